import SwiftParser
import SwiftSyntax

/// The markers of properties.
enum Marker: String, CaseIterable {
  case key = "Key"
  case indexed = "Indexed"
  case unique = "Unique"
  case searchable = "Searchable"
  case renamed = "Renamed"
  case restrict = "Restrict"
  case owned = "Owned"
  case transient = "Transient"

  /// The marker of an attribute, whose name may have the module before it.
  init?(_ attribute: String) {
    let names = attribute.split { ".:".contains($0) }
    guard names.count == 1 || attribute.hasPrefix("Pando") else { return nil }
    self.init(rawValue: String(names.last ?? ""))
  }
}

/// A stored property of a declared type.
struct StoredField {
  /// The name of the property.
  let name: String
  /// The name under which records contain it.
  let storedName: String
  /// The type as it is written, or the evident one of the default.
  let type: TypeName
  /// The default value, if there is one.
  let initializer: ExprSyntax?
  let isConstant: Bool
  /// True if records contain it.
  let isStored: Bool
  let markers: [Marker: AttributeSyntax]
  let declaration: VariableDeclSyntax

  /// The name as a member after a dot, where a few names mean something else.
  var member: String { ["self", "Self", "Type", "init"].contains(name) ? "`\(name)`" : name }

  /// The name where a property or a case is declared.
  var declaredName: String { name.declared }

  func has(_ marker: Marker) -> Bool { markers[marker] != nil }

  /// The names of `@Renamed(from:)`, the newest first.
  var formerNames: [String] {
    guard let arguments = markers[.renamed]?.arguments?.as(LabeledExprListSyntax.self) else {
      return []
    }
    return arguments.compactMap(\.expression.text)
  }

  /// The default for records that lack the field, with its type; `nil` if there is none.
  ///
  /// A value that differs from one evaluation to the next is no default for records.
  var recordDefault: String? {
    guard let initializer, isStored else { return nil }
    let value = initializer.trimmedDescription
    if value == "nil" || initializer.isFresh { return nil }
    return "(\(value)) as \(type.wrapped)"
  }
}

extension ExprSyntax {
  /// The text of a string literal without interpolation.
  var text: String? {
    guard let literal = self.as(StringLiteralExprSyntax.self) else { return nil }
    return literal.representedLiteralValue
  }

  /// True for the usual expressions whose value differs each time.
  fileprivate var isFresh: Bool {
    let text = trimmedDescription
    return ["UUID()", "Date()", ".now", "Date.now", ".init()"].contains(text)
      || text.contains(".random")
  }

  /// The type that a member such as `Int.zero` has as a rule; `nil` for another expression.
  var likelyType: String? {
    guard let base = self.as(MemberAccessExprSyntax.self)?.base?.trimmedDescription,
      base.first?.isUppercase ?? false
    else { return nil }
    return base
  }

  /// The type of a literal, or of a call of an initializer as `Address(…)`; `nil` for another
  /// expression.
  var evidentType: TypeName? {
    if self.is(BooleanLiteralExprSyntax.self) { return TypeName("Bool") }
    if self.is(IntegerLiteralExprSyntax.self) { return TypeName("Int") }
    if self.is(FloatLiteralExprSyntax.self) { return TypeName("Double") }
    if self.is(StringLiteralExprSyntax.self) { return TypeName("String") }
    if let negative = self.as(PrefixOperatorExprSyntax.self), negative.operator.text == "-" {
      return negative.expression.evidentType
    }
    if let call = self.as(FunctionCallExprSyntax.self) {
      let name = call.calledExpression.trimmedDescription
      let isType = name.split(separator: ".").allSatisfy {
        $0.first.map { $0.isUppercase || $0 == "[" } ?? false
      }
      return isType && name.first != "." ? TypeName(name) : nil
    }
    return nil
  }
}

/// The text of a type, with what the macros know about it.
struct TypeName {
  let text: String

  init(_ text: String) { self.text = text }

  private static let scalars: Set = [
    "Bool", "String", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8",
    "UInt16", "UInt32", "UInt64",
  ]
  private static let values: Set = [
    "Int128", "UInt128", "Data", "Date", "UUID", "URL", "Decimal", "Duration", "Character",
  ]

  /// The type inside an optional, or the type itself.
  var wrapped: String {
    if text.hasSuffix("?") { return TypeName(String(text.dropLast())).wrapped }
    let start = "Optional<"
    guard text.hasPrefix(start), text.hasSuffix(">") else { return text }
    return TypeName(String(text.dropFirst(start.count).dropLast())).wrapped
  }

  /// The type of the elements of a list that is written as `[Element]`; `nil` for another type.
  var element: TypeName? {
    let text = wrapped
    guard text.hasPrefix("["), text.hasSuffix("]"), !isDictionary else { return nil }
    return TypeName(String(text.dropFirst().dropLast()))
  }

  /// The name of a generic type, without its module, and what stands in its brackets; `nil` for another
  /// type.
  var generic: (name: String, argument: String)? {
    guard text.hasSuffix(">"), let start = text.firstIndex(of: "<") else { return nil }
    let name = text[..<start].split { ".:".contains($0) }.last.map(String.init) ?? ""
    return (name, String(text[start...].dropFirst().dropLast()))
  }

  private var isDictionary: Bool {
    let text = wrapped
    guard text.hasPrefix("[") else { return text.hasPrefix("Dictionary<") }
    var depth = 0
    for character in text {
      if "[(<".contains(character) { depth += 1 }
      if "])>".contains(character) { depth -= 1 }
      if character == ":", depth == 1 { return true }
    }
    return false
  }

  /// True for the types that records hold in one item, of which each coder has a form of its own.
  var isScalar: Bool { Self.scalars.contains(wrapped) && text.filter { $0 == "?" }.count <= 1 }

  /// True if a value of the type surely is no model and contains none.
  var isPlain: Bool {
    if let element { return element.isPlain }
    return Self.scalars.contains(wrapped) || Self.values.contains(wrapped)
      || ["Key", "EntityIdentifier"].contains(TypeName(wrapped).generic?.name)
  }

  /// True if the type surely can't be part of a key.
  var isNoKey: Bool {
    let floating: Set = ["Bool", "Double", "Float"]
    return floating.contains(wrapped) || element != nil || isIncomparable
      || (Self.values.contains(wrapped) && !["UUID", "Int128", "UInt128"].contains(wrapped))
  }

  /// True if values of the type surely can't be compared in a filter.
  var isIncomparable: Bool {
    let text = wrapped
    return isDictionary || text.hasPrefix("(") || text.hasPrefix("any ") || text == "Any"
      || text.contains("->")
  }
}

extension String {
  /// The name where it is declared: in backticks if it is a keyword.
  var declared: String { Keywords.all.contains(self) ? "`\(self)`" : self }
}

private enum Keywords {
  static let all: Set = [
    "self", "Self", "init", "class", "struct", "enum", "protocol", "extension", "func", "var",
    "let",
    "default", "case", "switch", "if", "else", "for", "while", "do", "in", "is", "as", "return",
    "throw", "throws", "try", "catch", "where", "import", "static", "public", "private", "internal",
    "fileprivate", "operator", "repeat", "break", "continue", "defer", "guard", "true", "false",
    "nil",
    "super", "typealias", "associatedtype", "deinit", "subscript", "inout", "rethrows", "any",
  ]
}
