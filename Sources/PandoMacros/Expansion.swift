import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The members that a macro generates, each as lines of Swift.
///
/// Members that name types stand in the type itself, where they see what the type sees. The coding
/// stands in an extension: an initializer in the type would replace the memberwise one.
///
/// Each type that they name has its module before it, because a program may have a type of that name.
/// `PandoStore` has also the types of the modules below it, and `import Pando` shows it.
struct Expansion {
  let declaration: Declaration
  private(set) var members: [[String]] = []

  init(_ declaration: Declaration) { self.declaration = declaration }

  /// Adds a member, unless the type declares one of that name itself.
  mutating func add(_ name: String, _ member: [String]) {
    if declaration.members.contains(name) { return }
    var member = member
    member[0] = declaration.access + member[0]
    members.append(member)
  }
}

extension [[String]] {
  /// The members as declarations.
  var declarations: [DeclSyntax] { map { "\(raw: $0.joined(separator: "\n"))" } }
}

extension ExtensionDeclSyntax {
  /// Makes an extension of a type with conformances and members.
  init(of type: some TypeSyntaxProtocol, _ protocols: [String], _ members: [[String]]) throws {
    let swift: Set = ["Codable", "Decodable", "Encodable", "Equatable"]
    let names = protocols.map { (swift.contains($0) ? "Swift." : "PandoStore.") + $0 }
    let list = names.isEmpty ? "" : ": " + names.joined(separator: ", ")
    let members = members.map { $0.map { "  " + $0 }.joined(separator: "\n") }
      .joined(separator: "\n\n")
    try self.init("nonisolated extension \(type.trimmed)\(raw: list) {\n\(raw: members)\n}")
  }
}

/// Members of structs, for both macros.
extension Expansion {
  /// True if the type has a coding of its own, which decides the form of its records.
  var isCodedByHand: Bool {
    declaration.members.contains("encode(to:)") || declaration.members.contains("init(from:)")
  }

  /// Adds the coding keys, if some properties are not stored.
  mutating func addCodingKeys() {
    let fields = declaration.storedFields
    guard !isCodedByHand, fields.count < declaration.fields.count else { return }
    let cases = fields.map { "  case \($0.declaredName)" }
    add("CodingKeys", ["enum CodingKeys: Swift.String, Swift.CodingKey {"] + cases + ["}"])
  }

  /// Adds the coding of `FieldCodable`, with the fields in the order of records.
  mutating func addFieldCoding() {
    let fields = declaration.storedFields.sorted {
      let (left, right) = (Array($0.storedName.utf8), Array($1.storedName.utf8))
      return left.count == right.count
        ? left.lexicographicallyPrecedes(right) : left.count < right.count
    }
    // One assignment: the compiler copies a value whose initializer may throw between two.
    let members = fields.map { "self.\($0.member)" }
    let reads = fields.map { field in
      "fields.\(field.type.isScalar ? "read" : "readCoded")(\(field.storedName.literal))"
    }
    add(
      "init(fields:)",
      ["init(fields: inout PandoStore.FieldSource) throws {"]
        + (fields.count < 2
          ? zip(members, reads).map { "  \($0) = try \($1)" }
          : ["  (", "    \(members.joined(separator: ", "))", "  ) = try ("]
            + reads.dropLast().map { "    \($0)," } + ["    \(reads[reads.count - 1])", "  )"]) + [
          "}"
        ])
    add(
      "write(to:)",
      ["func write(to fields: inout PandoStore.FieldSink) throws {"]
        + fields.map { field in
          let arguments = "\(field.storedName.literal), self.\(field.member)"
          return field.type.isScalar
            ? "  fields.write(\(arguments))" : "  try fields.writeCoded(\(arguments))"
        } + ["}"])
  }

  /// Adds the defaults and the former names.
  mutating func addHistory() {
    let defaults = declaration.storedFields.compactMap { field in
      field.recordDefault.map { "  \(field.storedName.literal): \($0)," }
    }
    if !defaults.isEmpty {
      add(
        "static fieldDefaults",
        ["static let fieldDefaults: [Swift.String: any Swift.Encodable & Swift.Sendable] = ["]
          + defaults + ["]"])
    }
    let formerNames = declaration.storedFields.filter { !$0.formerNames.isEmpty }.map { field in
      let names = field.formerNames.map(\.literal).joined(separator: ", ")
      return "  \(field.storedName.literal): [\(names)],"
    }
    if !formerNames.isEmpty {
      add(
        "static formerFieldNames",
        ["static let formerFieldNames: [Swift.String: [Swift.String]] = ["] + formerNames + ["]"])
    }
  }
}
