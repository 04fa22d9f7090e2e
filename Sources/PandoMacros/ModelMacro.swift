import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Declares a struct as a model: its key, fields, indexes, rules and coding.
struct ModelMacro {
  /// Reads the declaration that the macro is attached to.
  ///
  /// - Returns: `nil` if it has a mistake.
  private static func read(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax, _ mistakes: inout Mistakes,
    in context: some MacroExpansionContext
  ) -> (declaration: Declaration, arguments: ModelArguments)? {
    guard let declaration = mistakes.read(declaration, node, "@Model", "a struct", in: context)
    else { return nil }
    let arguments = ModelArguments(node, declaration, &mistakes)
    declaration.requireKey(arguments, &mistakes)
    return mistakes.diagnostics.isEmpty ? (declaration, arguments) : nil
  }
}

extension ModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    var mistakes = Mistakes()
    guard let (declaration, arguments) = read(declaration, node, &mistakes, in: context)
    else {
      mistakes.report(in: context)
      return []
    }
    var expansion = Expansion(declaration)
    expansion.addIdentity(arguments)
    expansion.addFields()
    expansion.addIndexes(arguments)
    expansion.addDeletionRules()
    expansion.addHistory()
    expansion.addCodingKeys()
    return expansion.members.declarations
  }
}

extension ModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    var mistakes = Mistakes()
    guard let (value, _) = read(declaration, node, &mistakes, in: context)
    else {
      // An enum loses the conformance that it has of itself, and the compiler would tell of nothing else.
      return declaration.is(EnumDeclSyntax.self)
        ? [try ExtensionDeclSyntax(of: type, ["Equatable"], [])] : []
    }
    var expansion = Expansion(value)
    var left: Set<String> = value.hasDeletionRules ? [] : ["DeletionRuled"]
    if value.isEntity { left.insert("KeyedModel") }
    if expansion.isCodedByHand || value.hasLazyFields {
      left.insert("FieldCodable")
    } else {
      expansion.addFieldCoding()
    }
    let conformances = protocols.map(\.lastName).filter { !left.contains($0) }
    return [try ExtensionDeclSyntax(of: type, conformances, expansion.members)]
  }
}

extension Mistakes {
  /// Reads the struct that a macro stands at.
  ///
  /// - Returns: `nil` if it stands at something else, which is a mistake.
  mutating func read(
    _ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax, _ macro: String,
    _ kinds: String, in context: some MacroExpansionContext
  ) -> Declaration? {
    refuseActor(of: declaration)
    refusePrivate(declaration, in: context)
    refuseOperators(declaration)
    if let type = declaration.as(StructDeclSyntax.self) { return Declaration(type, &self) }
    refuse(declaration, attribute, "\(macro) belongs to \(kinds)")
    return nil
  }

  /// Notes a type of the main actor: the threads of a store read and write its values.
  mutating func refuseActor(of declaration: some DeclGroupSyntax) {
    for element in declaration.attributes {
      guard let attribute = element.as(AttributeSyntax.self),
        attribute.attributeName.lastName == "MainActor"
      else { continue }
      let rest = declaration.attributes.filter { $0.id != element.id }
      add(
        attribute, "the threads of a store read and write the values; remove @MainActor",
        Repair.replace(declaration.attributes, by: rest, "remove @MainActor"))
    }
  }

  /// Notes operators of protocols in the declaration, which would not count.
  ///
  /// The compiler finds them twice in a type with a macro. It then synthesizes another `==`, and no `<`.
  mutating func refuseOperators(_ declaration: some DeclGroupSyntax) {
    guard let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text else { return }
    for member in declaration.memberBlock.members {
      guard let function = member.decl.as(FunctionDeclSyntax.self), function.compares(name),
        let conformance = ["==": "Equatable", "<": "Comparable"][function.name.text]
      else { continue }
      add(
        function.name,
        "this \(function.name.text) does not count; "
          + "write it in an extension: “extension \(name): \(conformance) { … }”")
    }
  }

  /// Notes a private type inside another one: the extension that a macro adds is outside of both.
  mutating func refusePrivate(
    _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
  ) {
    guard let modifier = declaration.modifiers.first(where: { $0.name.text == "private" }),
      let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text,
      context.lexicalContext.contains(where: { $0.isType && !$0.isType(named: name) })
    else { return }
    var repaired = modifier
    repaired.name.tokenKind = .keyword(.fileprivate)
    add(
      modifier,
      "the extension of a macro does not see a private type inside another type; write fileprivate",
      Repair.replace(modifier, by: repaired, "write fileprivate"))
  }

  private mutating func refuse(
    _ declaration: some DeclGroupSyntax, _ attribute: AttributeSyntax, _ message: String
  ) {
    if let type = declaration.as(ClassDeclSyntax.self) {
      var keyword = type.classKeyword
      keyword.tokenKind = .keyword(.struct)
      add(
        type.classKeyword, "\(message): models are immutable values",
        Repair.replace(type.classKeyword, by: keyword, "write struct"))
    } else {
      add(attribute, message)
    }
  }
}

extension FunctionDeclSyntax {
  /// True if all parameters are values of a type.
  fileprivate func compares(_ type: String) -> Bool {
    signature.parameterClause.parameters.allSatisfy { [type, "Self"].contains($0.type.lastName) }
  }
}

extension Syntax {
  /// True for a type or an extension, which encloses members.
  fileprivate var isType: Bool { asProtocol((any DeclGroupSyntax).self) != nil }

  /// True for the declaration of a type of this name.
  fileprivate func isType(named name: String) -> Bool {
    asProtocol((any NamedDeclSyntax).self)?.name.text == name
  }
}

extension Declaration {
  var keyFields: [StoredField] { fields.filter { $0.has(.key) } }

  /// True if a child has a deletion rule.
  var hasDeletionRules: Bool {
    storedFields.contains { $0.has(.restrict) || $0.has(.owned) }
  }

  /// Notes that nothing or two things are the key.
  func requireKey(_ arguments: ModelArguments, _ mistakes: inout Mistakes) {
    if let key = arguments.key {
      if isEntity {
        mistakes.add(nameNode, "the key of an entity is its id, and not \(key.literal)")
      }
      for attribute in keyFields.compactMap({ $0.markers[.key] }) {
        mistakes.add(attribute, "the one \(name) has the key \(key.literal) already")
      }
      return
    }
    if isEntity { return refuseKeys(&mistakes) }
    guard keyFields.isEmpty, !members.contains("modelIdentifier") else { return }
    let candidate = fields.first { $0.name == "id" } ?? fields.first
    let repair = candidate.map { field in
      var repaired = field.declaration
      repaired.leadingTrivia = []
      repaired.attributes.insert(
        .attribute(AttributeSyntax("@Key").with(\.trailingTrivia, .space)),
        at: repaired.attributes.startIndex)
      repaired.leadingTrivia = field.declaration.leadingTrivia
      return Repair.replace(field.declaration, by: repaired, "mark \(field.name) with @Key")
    }
    mistakes.add(
      nameNode, "mark the property that identifies a \(name) with @Key", repair)
  }
}

/// The arguments of `@Model`.
struct ModelArguments {
  /// The name under which a store keeps models of the type.
  var typeName: String
  /// The type whose nodes the models are; that of the models itself by default.
  var nodeType = "Self"
  /// The key of the one model of the type; `nil` if properties are the key.
  var key: String?
  /// The properties of each index, as key paths without a root.
  var indexes: [(isUnique: Bool, paths: [[String]])] = []
  /// The names of the properties that the indexes sum up; `nil` if they keep no totals.
  var sums: [String]?

  init(_ attribute: AttributeSyntax, _ declaration: Declaration, _ mistakes: inout Mistakes) {
    typeName = declaration.name
    var label: String?
    for argument in attribute.arguments?.as(LabeledExprListSyntax.self) ?? [] {
      label = argument.label?.text ?? label
      if label == "of" {
        let text = argument.expression.trimmedDescription
        if text.hasSuffix(".self") {
          nodeType = String(text.dropLast(".self".count))
        } else {
          mistakes.add(argument.expression, "write the type of the nodes, as Person.self")
        }
      } else if label == "key" {
        key = argument.expression.text
        if key?.isEmpty ?? true {
          mistakes.add(argument.expression, "write the key of the one model as a text")
        }
      } else if label == nil {
        if let name = argument.expression.text, !name.isEmpty {
          typeName = name
        } else {
          mistakes.add(argument.expression, "write the name of the type as a text")
        }
      } else if let list = argument.expression.as(ArrayExprSyntax.self) {
        let paths = list.elements.compactMap {
          declaration.path($0.expression, &mistakes)
        }
        if label == "sums" {
          sums = paths.map { $0.joined(separator: ".") }
        } else if !paths.isEmpty {
          indexes.append((label == "unique", paths))
        }
      } else {
        mistakes.add(argument.expression, "write the key paths of an index in brackets")
      }
    }
    if sums != nil, indexes.allSatisfy(\.isUnique), let list = attribute.arguments {
      mistakes.add(
        list, "sums: needs the indexes that keep them: write indexed: [\\.property] before it")
    }
  }
}

extension Declaration {
  /// The names along a key path of the type; notes a first name that is no stored property.
  fileprivate func path(_ expression: ExprSyntax, _ mistakes: inout Mistakes) -> [String]? {
    guard let keyPath = expression.as(KeyPathExprSyntax.self) else {
      mistakes.add(expression, "write a key path, as \\.name")
      return nil
    }
    let text = keyPath.components.trimmedDescription
    let names = text.split { ".?!".contains($0) }.map { String($0).trimmingBackticks }
    guard let first = names.first, storedFields.contains(where: { $0.name == first }) else {
      mistakes.add(expression, "\(name) has no stored property \(names.first ?? text)")
      return nil
    }
    let isMark: (Character) -> Bool = { ".?!".contains($0) }
    let rest = text.drop(while: isMark).drop { !isMark($0) } as Substring
    let path = rest.drop(while: isMark)
    return [first] + (path.isEmpty ? [] : [String(path)])
  }

  /// The field of an index, as an argument of `FieldIndex`.
  fileprivate func indexed(_ path: [String]) -> String {
    guard path.count > 1, let field = fields.first(where: { $0.name == path[0] }) else {
      return ".path(\\\(name).\(path[0]))"
    }
    if field.type.element != nil {
      return ".each(\\\(name).\(path[0]), \\.\(path[1]))"
    }
    return ".path(\\\(name).\(path[0])\(field.type.text.hasSuffix("?") ? "?" : "").\(path[1]))"
  }
}

extension Expansion {
  fileprivate mutating func addIdentity(_ arguments: ModelArguments) {
    let keys = declaration.keyFields
    let name = arguments.typeName.literal
    add("static modelTypeName", ["static var modelTypeName: Swift.String { \(name) }"])
    if declaration.isEntity { return addEntityMembers(arguments) }
    if let key = arguments.key {
      let make = "makeIdentifier(\(key.literal))"
      addNamespace("Self")
      add("modelIdentifier", ["var modelIdentifier: Swift.String { Self.\(make) }"])
      add(
        "static key",
        [
          "static var key: PandoStore.Key<\(declaration.name)> { PandoStore.Key(rawValue: \(make)) }"
        ])
      return
    }
    // An identifier that is made otherwise is no text of these keys.
    if keys.isEmpty || declaration.members.contains("modelIdentifier") { return }
    let parts = keys.map { "self.\($0.member)" }.joined(separator: ", ")
    let make = "\(arguments.nodeType).makeIdentifier"
    addNamespace(arguments.nodeType)
    add("modelIdentifier", ["var modelIdentifier: Swift.String { \(make)(\(parts)) }"])
    let parameters = keys.map { "_ \($0.declaredName): \($0.type.text)" }.joined(separator: ", ")
    let names = keys.map(\.declaredName).joined(separator: ", ")
    let start = arguments.nodeType == "Self" ? "" : arguments.nodeType + "."
    add(
      "static key(\(keys.map { _ in "_:" }.joined()))",
      [
        "static func key(\(parameters)) -> PandoStore.Key<\(declaration.name)> {",
        "  PandoStore.Key(rawValue: \(start)makeIdentifier(\(names)))", "}",
      ])
  }

  /// Adds what all identifiers of the type begin with.
  private mutating func addNamespace(_ nodeType: String) {
    add(
      "static nodeNamespace",
      ["static var nodeNamespace: Swift.String? { \(nodeType).modelTypeName }"])
  }

  fileprivate mutating func addFields() {
    let name = declaration.name
    let isCodedByHand = isCodedByHand
    let fields = declaration.queriedFields.filter { !isCodedByHand || $0.has(.indexed) }
    add(
      "static fields",
      [
        "static let fields: [PandoStore.Field<\(name)>] = {",
        "  var fields = PandoStore.FieldList<\(name)>()",
      ]
        + fields.map { field in
          let option = field.has(.indexed) ? ", isIndexed: true" : ""
          return "  fields.add(\\.\(field.member), \(field.storedName.literal)\(option))"
        } + ["  return fields.all", "}()"])
  }

  fileprivate mutating func addIndexes(_ arguments: ModelArguments) {
    var lines = declaration.storedFields.filter { $0.has(.unique) }
      .map { "  .unique(.path(\\\(declaration.name).\($0.name)))," }
    for index in arguments.indexes {
      var fields = index.paths.map(declaration.indexed)
      if let sums = arguments.sums, !index.isUnique {
        let paths = sums.map { "\\\(declaration.name).\($0)" }
        fields.append("sums: [\(paths.joined(separator: ", "))]")
      }
      let arguments = fields.joined(separator: ", ")
      lines.append("  .\(index.isUnique ? "unique" : "indexed")(\(arguments)),")
    }
    let searchable = declaration.storedFields.filter { $0.has(.searchable) }
      .map { "\\\(declaration.name).\($0.name)" }
    if !searchable.isEmpty { lines.append("  .text(\(searchable.joined(separator: ", "))),") }
    if lines.isEmpty { return }
    add(
      "static indexes",
      ["static let indexes: [PandoStore.FieldIndex<\(declaration.name)>] = ["] + lines + ["]"])
  }

  fileprivate mutating func addDeletionRules() {
    let rules = declaration.storedFields.compactMap { field -> String? in
      guard field.has(.restrict) || field.has(.owned) else { return nil }
      let kind = field.has(.restrict) ? "restrict" : "owned"
      return "  .\(kind)(\\\(declaration.name).\(field.name), \(field.storedName.literal)),"
    }
    if rules.isEmpty { return }
    add(
      "static deletionRules",
      ["static let deletionRules: [PandoStore.DeletionRule] = ["] + rules + ["]"])
  }
}
