import SwiftSyntax
import SwiftSyntaxBuilder

/// A struct that a macro is attached to, with its stored properties.
struct Declaration {
  let name: String
  /// The access level of the type with a space, as members need it; empty for the default.
  let access: String
  let fields: [StoredField]
  /// The names of the members that the type declares itself, with `static` before those of the type.
  let members: Set<String>
  let nameNode: TokenSyntax
  let memberBlock: MemberBlockSyntax

  /// Reads the declaration of a struct, and notes its mistakes.
  init(_ type: StructDeclSyntax, _ mistakes: inout Mistakes) {
    name = type.name.text
    nameNode = type.name
    memberBlock = type.memberBlock
    access =
      type.modifiers.first { ["public", "package"].contains($0.name.text) }
      .map { "\($0.name.text) " } ?? ""
    members = Set(type.memberBlock.members.flatMap(\.decl.declaredNames))
    if let parameters = type.genericParameterClause {
      mistakes.add(
        parameters,
        "a generic struct can't be declared by a macro; conform to the protocols by hand")
    }
    let storedNames = CodingNames(type.memberBlock)
    var fields: [StoredField] = []
    for member in type.memberBlock.members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        mistakes.add(
          condition, "a macro does not see which members #if leaves; declare all of them")
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      fields += Self.fields(of: variable, storedNames, &mistakes)
    }
    self.fields = fields
    checkNames(&mistakes)
  }

  /// The fields that records contain.
  var storedFields: [StoredField] { fields.filter(\.isStored) }

  private static func fields(
    of variable: VariableDeclSyntax, _ names: CodingNames, _ mistakes: inout Mistakes
  ) -> [StoredField] {
    let markers = variable.markers
    let isStatic = variable.modifiers.isStatic
    let isComputed = variable.bindings.contains { $0.isComputed }
    if isStatic || isComputed {
      for attribute in markers.values {
        mistakes.add(
          attribute,
          "\(attribute.trimmedDescription) belongs to a stored property; this one is "
            + (isStatic ? "static" : "computed"), .some(Repair.remove(attribute, of: variable)))
      }
      return []
    }
    if let lazy = variable.modifiers.first(where: { $0.name.text == "lazy" }) {
      mistakes.add(lazy, "a model is a value: a lazy property can't be stored in its record")
      return []
    }
    var fields: [StoredField] = []
    // In `var a, b: Int` the type stands behind the last name.
    var type: TypeSyntax?
    for binding in variable.bindings.reversed() {
      type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
      guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
        mistakes.add(binding.pattern, "declare each property by itself")
        continue
      }
      let name = pattern.identifier.text.trimmingBackticks
      let value = binding.initializer?.value
      let typeName = type.map { TypeName($0.trimmedDescription) } ?? value?.evidentType
      guard let typeName else {
        let likely = value?.likelyType ?? "<#Type#>"
        var repaired = binding
        repaired.pattern.trailingTrivia = []
        repaired.typeAnnotation = TypeAnnotationSyntax(
          colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("\(raw: likely)"),
          trailingTrivia: .space)
        mistakes.add(
          pattern,
          "write the type of \(name), as in “\(repaired.trimmedDescription)”: "
            + "a macro does not see what the compiler infers",
          Repair.replace(binding, by: repaired, "write “\(name): \(likely)”"))
        continue
      }
      fields.append(
        StoredField(
          name: name, storedName: names[name] ?? name, type: typeName, initializer: value,
          isConstant: variable.bindingSpecifier.text == "let",
          isStored: names.contains(name) && markers[.transient] == nil, markers: markers,
          declaration: variable))
    }
    for field in fields { field.check(&mistakes) }
    return fields.reversed()
  }

  /// Notes names that two fields have.
  private func checkNames(_ mistakes: inout Mistakes) {
    var owners: [String: String] = [:]
    for field in storedFields {
      if let owner = owners.updateValue(field.name, forKey: field.storedName) {
        mistakes.add(
          field.declaration,
          "\(field.name) and \(owner) have one stored name, \"\(field.storedName)\"")
      }
    }
    for field in storedFields {
      for former in field.formerNames {
        guard let attribute = field.markers[.renamed] else { continue }
        if let owner = owners.updateValue(field.name, forKey: former) {
          mistakes.add(
            attribute,
            "\"\(former)\" is \(owner == field.name ? "the name" : "a name of \(owner)") already",
            Repair.remove(attribute, of: field.declaration))
        }
      }
    }
  }
}

extension StoredField {
  /// Notes markers that don't fit the property.
  fileprivate func check(_ mistakes: inout Mistakes) {
    for marker in [Marker.indexed, .unique] where type.isIncomparable {
      guard let attribute = markers[marker] else { continue }
      mistakes.add(
        attribute, "values of \(type.text) can't be compared, so they can't be indexed",
        Repair.remove(attribute, of: declaration))
    }
    for marker in [Marker.restrict, .owned] where type.isPlain {
      guard let attribute = markers[marker] else { continue }
      mistakes.add(
        attribute,
        "\(attribute.trimmedDescription) belongs to a child; \(type.text) is no model",
        Repair.remove(attribute, of: declaration))
    }
    if let attribute = markers[.restrict], has(.owned) {
      mistakes.add(
        attribute, "a child has one rule: @Restrict or @Owned",
        Repair.remove(attribute, of: declaration))
    }
    if let attribute = markers[.key] {
      if type.text != type.wrapped {
        mistakes.add(attribute, "a key is never nil; remove the question mark of \(type.text)")
      } else if type.isNoKey {
        mistakes.add(
          attribute,
          "\(type.text) does not conform to KeyPart: a key is a String, an integer, a UUID, a Key or an enum"
        )
      }
    }
    if let attribute = markers[.transient] {
      checkTransient(attribute, &mistakes)
    } else if isConstant, initializer != nil {
      var repaired = declaration
      repaired.bindingSpecifier.tokenKind = .keyword(.var)
      mistakes.add(
        declaration.bindingSpecifier,
        "a constant with a value can't be read from a record; write var",
        Repair.replace(declaration, by: repaired, "write var"))
    }
  }

  private func checkTransient(_ attribute: AttributeSyntax, _ mistakes: inout Mistakes) {
    if initializer == nil, type.text == type.wrapped {
      mistakes.add(
        attribute, "\(name) is not stored, so it needs a default: \(name): \(type.text) = …")
    }
    for (marker, other) in markers where marker != .transient {
      mistakes.add(
        other, "@\(marker.rawValue) has no effect on a property that is not stored",
        Repair.remove(other, of: declaration))
    }
  }
}

/// The stored names that a type's own `CodingKeys` give.
struct CodingNames {
  private var names: [String: String] = [:]
  private var isDeclared = false

  init(_ block: MemberBlockSyntax) {
    for member in block.members {
      guard let keys = member.decl.as(EnumDeclSyntax.self), keys.name.text == "CodingKeys" else {
        continue
      }
      isDeclared = true
      for member in keys.memberBlock.members {
        for element in member.decl.as(EnumCaseDeclSyntax.self)?.elements ?? [] {
          let name = element.name.text.trimmingBackticks
          names[name] = element.rawValue?.value.text ?? name
        }
      }
    }
  }

  subscript(property: String) -> String? { names[property] }

  func contains(_ property: String) -> Bool { !isDeclared || names[property] != nil }
}

extension MemberBlockSyntax {
  /// True if there is a member of a name.
  func declares(_ name: String) -> Bool {
    members.contains { $0.decl.declaredNames.contains(name) }
  }
}

extension VariableDeclSyntax {
  var markers: [Marker: AttributeSyntax] {
    var found: [Marker: AttributeSyntax] = [:]
    for attribute in attributes {
      guard let attribute = attribute.as(AttributeSyntax.self),
        let marker = Marker(attribute.attributeName.trimmedDescription)
      else { continue }
      found[marker] = attribute
    }
    return found
  }
}

extension PatternBindingSyntax {
  /// True for a getter or accessors; observers belong to a stored property.
  fileprivate var isComputed: Bool {
    guard let accessorBlock else { return false }
    guard case .accessors(let accessors) = accessorBlock.accessors else { return true }
    return accessors.contains { !["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }
}

extension DeclModifierListSyntax {
  fileprivate var isStatic: Bool { contains { ["static", "class"].contains($0.name.text) } }
}

extension DeclSyntax {
  /// The names that a member declares.
  fileprivate var declaredNames: [String] {
    if let variable = self.as(VariableDeclSyntax.self) {
      let start = variable.modifiers.isStatic ? "static " : ""
      return variable.bindings.map { start + $0.pattern.trimmedDescription.trimmingBackticks }
    }
    if let function = self.as(FunctionDeclSyntax.self) {
      let labels = function.signature.parameterClause.parameters.map { "\($0.firstName.text):" }
      let start = function.modifiers.isStatic ? "static " : ""
      return ["\(start)\(function.name.text)(\(labels.joined()))"]
    }
    if let initializer = self.as(InitializerDeclSyntax.self) {
      let labels = initializer.signature.parameterClause.parameters.map { "\($0.firstName.text):" }
      return ["init(\(labels.joined()))"]
    }
    if let type = asProtocol((any NamedDeclSyntax).self) { return [type.name.text] }
    return []
  }
}

extension String {
  var trimmingBackticks: String { filter { $0 != "`" } }

  /// The text as a literal of Swift.
  var literal: String {
    let escaped = unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 0x20: "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
