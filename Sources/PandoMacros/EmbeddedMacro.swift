import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Declares a value inside a model: a struct, or an enum.
struct EmbeddedMacro {
  /// Reads the struct that the macro is attached to.
  ///
  /// - Returns: `nil` if it has a mistake.
  private static func read(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ mistakes: inout Mistakes,
    in context: some MacroExpansionContext
  ) -> Declaration? {
    guard
      let declaration = mistakes.read(
        declaration, node, "@Embedded", "a struct or an enum", in: context)
    else { return nil }
    for field in declaration.fields {
      for marker in [Marker.key, .indexed, .unique, .restrict, .owned] {
        guard let attribute = field.markers[marker] else { continue }
        mistakes.add(
          attribute,
          "@\(marker.rawValue) belongs to a property of a model, not of an embedded value",
          Repair.remove(attribute, of: field.declaration))
      }
    }
    return mistakes.diagnostics.isEmpty ? declaration : nil
  }
}

extension EmbeddedMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var mistakes = Mistakes()
    if let value = declaration.as(EnumDeclSyntax.self) {
      mistakes.refuseActor(of: value)
      mistakes.refusePrivate(value, in: context)
      mistakes.refuseOperators(value)
      mistakes.report(in: context)
      return mistakes.diagnostics.isEmpty ? EmbeddedEnum(value).members.declarations : []
    }
    guard let declaration = read(declaration, node, &mistakes, in: context) else {
      mistakes.report(in: context)
      return []
    }
    var expansion = Expansion(declaration)
    expansion.addEmbeddedFields()
    expansion.addHistory()
    expansion.addCodingKeys()
    return expansion.members.declarations
  }
}

extension EmbeddedMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let missing = protocols.map(\.lastName)
    var mistakes = Mistakes()
    if let value = declaration.as(EnumDeclSyntax.self) {
      mistakes.refusePrivate(value, in: context)
      mistakes.refuseOperators(value)
      if !mistakes.diagnostics.isEmpty { return [] }
      let left = EmbeddedEnum(value).absentConformances
      return [try ExtensionDeclSyntax(of: type, missing.filter { !left.contains($0) }, [])]
    }
    guard let declaration = read(declaration, node, &mistakes, in: context) else { return [] }
    var expansion = Expansion(declaration)
    var left: Set = ["QueryRepresentable", "KeyPart", "CaseNamed"]
    if expansion.isCodedByHand { left.insert("FieldCodable") } else { expansion.addFieldCoding() }
    let conformances = missing.filter { !left.contains($0) }
    return [try ExtensionDeclSyntax(of: type, conformances, expansion.members)]
  }
}

extension Expansion {
  fileprivate mutating func addEmbeddedFields() {
    let name = declaration.name
    let fields = isCodedByHand ? [] : declaration.storedFields
    add(
      "static embeddedFields",
      [
        "static let embeddedFields: PandoStore.EmbeddedFields<\(name)> = {",
        "  \(fields.isEmpty ? "let" : "var") fields = PandoStore.EmbeddedFields<\(name)>()",
      ]
        + fields.map { field in
          "  fields.add(\\.\(field.member), optional: \\.?.\(field.member), "
            + "\(field.storedName.literal))"
        } + ["  return fields", "}()"])
  }
}

/// An enum inside a model.
///
/// One with raw values is compared by them, one without any values by the names of its cases. Of
/// another one, the macro declares the values of its cases as optional properties, so that key paths
/// lead to them.
private struct EmbeddedEnum {
  private let value: EnumDeclSyntax
  private let access: String

  init(_ value: EnumDeclSyntax) {
    self.value = value
    access =
      value.modifiers.first { ["public", "package"].contains($0.name.text) }
      .map { "\($0.name.text) " } ?? ""
  }

  private struct Case {
    let name: String
    let values: [(name: String?, type: String)]

    /// The name of a value in a record.
    func key(_ index: Int) -> String { values[index].name ?? "_\(index)" }
    /// The type of its values; a name that types of values don't have.
    var typeName: String { name.prefix(1).uppercased() + name.dropFirst() + "Values" }
  }

  private var cases: [Case] {
    value.memberBlock.members.flatMap { member in
      (member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? []).map { element in
        Case(
          name: element.name.text.trimmingBackticks,
          values: (element.parameterClause?.parameters ?? []).map { parameter in
            let label = parameter.firstName?.text.trimmingBackticks
            return (label == "_" ? nil : label, parameter.type.trimmedDescription)
          })
      }
    }
  }

  /// True if the enum has raw values.
  private var isRaw: Bool {
    let raw = value.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
    return raw.map { $0 == "String" || $0 == "Character" || TypeName($0).isScalar } ?? false
  }

  /// True if the enum has no values, and records contain the names of its cases.
  private var isNamed: Bool {
    let cases = cases
    return !isRaw && !cases.isEmpty && cases.allSatisfy(\.values.isEmpty)
      && !value.memberBlock.declares("encode(to:)") && !value.memberBlock.declares("init(from:)")
  }

  /// The protocols that the enum does not conform to.
  var absentConformances: Set<String> {
    if isRaw { return ["Embedded", "FieldCodable", "CaseNamed"] }
    return isNamed
      ? ["Embedded", "FieldCodable"]
      : ["QueryRepresentable", "KeyPart", "FieldCodable", "CaseNamed"]
  }

  /// The members of an enum without values: the names of its cases.
  private var caseNames: [[String]] {
    let names = CodingNames(value.memberBlock)
    let cases = cases.map { (name: $0.name.declared, text: (names[$0.name] ?? $0.name).literal) }
    return [
      ["\(access)var caseName: Swift.String {", "  switch self {"]
        + cases.map { "  case .\($0.name): \($0.text)" } + ["  }", "}"],
      ["\(access)init?(caseName: Swift.String) {", "  switch caseName {"]
        + cases.map { "  case \($0.text): self = .\($0.name)" }
        + ["  default: return nil", "  }", "}"],
    ]
  }

  /// The members of an enum without raw values.
  var members: [[String]] {
    if isRaw { return [] }
    if isNamed { return caseNames }
    // Of cases that differ in their labels alone, none has a property.
    let cases = self.cases.filter { item in
      !item.values.isEmpty && self.cases.count { $0.name == item.name } == 1
    }
    let fields = cases.flatMap { item in
      item.values.indices.map { index in
        let key = item.key(index)
        return "  fields.add(\\.\(item.name)?.\(key), optional: \\.?.\(item.name)?.\(key), "
          + "\("\(item.name).\(key)".literal))"
      }
    }
    let name = value.name.text
    return cases.flatMap(members) + [
      [
        "\(access)static let embeddedFields: PandoStore.EmbeddedFields<\(name)> = {",
        "  \(cases.isEmpty ? "let" : "var") fields = PandoStore.EmbeddedFields<\(name)>()",
      ] + fields + ["  return fields", "}()"]
    ]
  }

  /// A struct with the values of a case, and the property that has them.
  private func members(of item: Case) -> [[String]] {
    let names = item.values.indices.map { item.key($0) }
    let bound = names.map { "let \($0.declared)" }.joined(separator: ", ")
    let made = names.map { "\($0): \($0.declared)" }.joined(separator: ", ")
    return [
      [
        "/// The values of the case `\(item.name)`.",
        "\(access)struct \(item.typeName): Swift.Equatable, Swift.Sendable {",
      ] + zip(names, item.values).map { "  \(access)let \($0.declared): \($1.type)" } + ["}"],
      [
        "/// The values of the case `\(item.name)`; `nil` for another case.",
        "\(access)var \(item.name.declared): \(item.typeName)? {",
        "  if case .\(item.name)(\(bound)) = self { \(item.typeName)(\(made)) } else { nil }", "}",
      ],
    ]
  }
}
