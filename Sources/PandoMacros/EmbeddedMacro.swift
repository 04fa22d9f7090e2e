import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Declares a value inside a model: a struct, or an enum.
struct EmbeddedMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let missing = protocols.map(\.trimmedDescription)
    var mistakes = Mistakes()
    if let value = declaration.as(EnumDeclSyntax.self) {
      return [try EmbeddedEnum(value).extended(type, by: missing)]
    }
    guard let value = declaration.as(StructDeclSyntax.self) else {
      mistakes.refuse(declaration, node, "@Embedded")
      _ = mistakes.report(in: context)
      return []
    }
    let declaration = Declaration(value, &mistakes)
    for field in declaration.fields {
      for marker in [Marker.key, .indexed, .unique, .restrict, .owned] {
        guard let attribute = field.markers[marker] else { continue }
        mistakes.add(
          attribute,
          "@\(marker.rawValue) belongs to a property of a model, not of an embedded value",
          Repair.remove(attribute, of: field.declaration))
      }
    }
    guard mistakes.report(in: context) else { return [] }
    var expansion = Expansion(declaration)
    expansion.addEmbeddedFields()
    expansion.addHistory()
    expansion.addCodingKeys()
    var left: Set = ["QueryRepresentable", "KeyPart"]
    if expansion.isCodedByHand { left.insert("FieldCodable") } else { expansion.addFieldCoding() }
    return [try expansion.extended(type, by: missing.filter { !left.contains($0) })]
  }
}

extension Expansion {
  fileprivate mutating func addEmbeddedFields() {
    let name = declaration.name
    let fields = isCodedByHand ? [] : declaration.storedFields
    add(
      "embeddedFields",
      [
        "static let embeddedFields: EmbeddedFields<\(name)> = {",
        "  \(fields.isEmpty ? "let" : "var") fields = EmbeddedFields<\(name)>()",
      ]
        + fields.map { field in
          "  fields.add(\\.\(field.name), optional: \\.?.\(field.name), "
            + "\(field.storedName.literal))"
        } + ["  return fields", "}()"])
  }
}

/// An enum inside a model.
///
/// One with raw values is compared by them. Of another one, the macro declares the values of its
/// cases as optional properties, so that key paths lead to them.
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
    var typeName: String { name.prefix(1).uppercased() + name.dropFirst() }
  }

  private var cases: [Case] {
    value.memberBlock.members.flatMap { member in
      (member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? []).map { element in
        Case(
          name: element.name.text.trimmingBackticks,
          values: (element.parameterClause?.parameters ?? []).map { parameter in
            let label = parameter.firstName?.text
            return (label == "_" ? nil : label, parameter.type.trimmedDescription)
          })
      }
    }
  }

  func extended(_ type: some TypeSyntaxProtocol, by protocols: [String]) throws
    -> ExtensionDeclSyntax
  {
    let raw = value.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
    let isRaw = raw.map { $0 == "String" || $0 == "Character" || TypeName($0).isScalar } ?? false
    let left: Set =
      isRaw ? ["Embedded", "FieldCodable"] : ["QueryRepresentable", "KeyPart", "FieldCodable"]
    return try ExtensionDeclSyntax(
      of: type, protocols.filter { !left.contains($0) }, isRaw ? [] : members)
  }

  private var members: [String] {
    let name = value.name.text
    let cases = cases.filter { !$0.values.isEmpty }
    var lines: [String] = []
    for item in cases { lines += members(of: item) }
    lines += [
      "\(access)static let embeddedFields: EmbeddedFields<\(name)> = {",
      "  \(cases.isEmpty ? "let" : "var") fields = EmbeddedFields<\(name)>()",
    ]
    for item in cases {
      for index in item.values.indices {
        let key = item.key(index)
        lines.append(
          "  fields.add(\\.\(item.name)?.\(key), optional: \\.?.\(item.name)?.\(key), "
            + "\("\(item.name).\(key)".literal))")
      }
    }
    return lines + ["  return fields", "}()"]
  }

  /// A struct with the values of a case, and the property that has them.
  private func members(of item: Case) -> [String] {
    let names = item.values.indices.map { item.key($0) }
    let bound = names.map { "let \($0)" }.joined(separator: ", ")
    let made = names.map { "\($0): \($0)" }.joined(separator: ", ")
    return [
      "/// The values of the case `\(item.name)`.",
      "\(access)struct \(item.typeName): Equatable, Sendable {",
    ]
      + zip(names, item.values).map { "  \(access)let \($0): \($1.type)" }
      + [
        "}", "", "/// The values of the case `\(item.name)`; `nil` for another case.",
        "\(access)var \(item.name): \(item.typeName)? {",
        "  if case .\(item.name)(\(bound)) = self { \(item.typeName)(\(made)) } else { nil }", "}",
        "",
      ]
  }
}
