public import PandoModels
import PandoSystem
import Synchronization

/// A model type that declares the coding names of its fields, so that filters can use them.
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {  // Queryable conforms to it
///   var id: Int
///   var name: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let fields: [Field<Person>] = [.indexed(\.name)]
/// }
/// ```
///
/// Pando compares it with the type's coding: see ``DeclaredFields``. Every `Entity` conforms.
public protocol FieldDeclaring: SimpleModel {
  /// The declarations of the type; the same object each time.
  static var declaredFields: DeclaredFields { get }
}

/// The declared fields of a type, with the results of checks against instances.
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {
///   enum CodingKeys: String, CodingKey { case id, name = "full_name" }
///   var id: Int
///   var name: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let fields: [Field<Person>] = [.field(\.name, "full_name")]  // as it is coded
/// }
/// ```
///
/// If a declared name were not the coding key, filters and indexes would read a wrong field or
/// none. So Pando encodes each written instance and compares it, until one proves the name: its
/// value is found under this name and under no other. A proven field costs nothing more in this
/// process. A nil optional proves nothing.
///
/// - Note: Any thread.
public final class DeclaredFields: Sendable {
  let fields: [DeclaredField]
  private let type: ObjectIdentifier

  private init(_ type: ObjectIdentifier, _ fields: [DeclaredField]) {
    self.type = type
    self.fields = fields
  }

  /// One object per type; looked up once per flush, and while fields are not proven.
  private static let all = Locked<[DeclaredFields]>([])

  /// The fields of a type, created at the first call.
  package static func of(_ type: any Any.Type, _ make: () -> [DeclaredField]) -> DeclaredFields {
    let identity = ObjectIdentifier(type)
    for known in all.withLock({ $0 }) where known.type == identity { return known }
    let made = DeclaredFields(identity, make())
    return all.withLock { all in
      for known in all where known.type == identity { return known }
      all.append(made)
      return made
    }
  }

  /// Whether a field is not proven yet.
  var areOpen: Bool { fields.contains { !$0.isProven } }

  /// Whether a child type on the path to a field has a value for a missing field, as far as known.
  package func mayBeElsewhereInChild(_ name: String) -> Bool {
    fields.contains { $0.path.name == name && $0.mayBeElsewhereInChild }
  }

  /// The name of a field as the type reads it; `nil` if the type does not declare it.
  func stored(_ name: String) -> FieldPath? {
    if let field = fields.first(where: { $0.path.name == name }) { return field.stored }
    let names = FieldPath.names(ofWordsIn: name)
    if !names.isEmpty { return .words(of: names.map { stored($0) ?? FieldPath($0) }) }
    return FieldPath.nameToFold(in: name).flatMap { stored($0)?.folded }
  }

  /// The field of a name, if it is not proven yet.
  package func open(_ name: String) -> DeclaredField? {
    fields.first { $0.path.name == name && !$0.isProven }
  }

  /// Compares an instance with its encoded form.
  ///
  /// - Throws: `ModelError` `misdeclaredField`.
  func check(
    _ model: any SimpleModel, _ body: UnsafeRawBufferPointer, _ children: any FieldChildren
  ) throws {
    for field in fields where !field.isProven { try unsafe field.check(model, body, children) }
  }
}

/// One declared field of a type.
package final class DeclaredField: Sendable {
  /// How many ambiguous values, also found under another name, prove a field.
  ///
  /// Two fields that are always equal can't be distinguished, and need not be.
  private static let chanceCountMaximum = 1000

  /// The name in the type's coding.
  let path: FieldPath
  /// The name with the former names and the defaults that the type declares.
  let stored: FieldPath
  private let keyPath: @Sendable () -> String
  private let value: @Sendable (any SimpleModel) -> QueryValue?
  /// Whether the type has a value for a body without the field.
  private let mayBeElsewhere: Bool
  private let agreements = Atomic<Int>(0)
  /// Whether a child type on the path has a value for a body without a field.
  private let isElsewhereInChild = Atomic<Bool>(false)

  /// Makes an unproven field.
  ///
  /// - Parameters:
  ///   - stored: The path of its name in a record.
  ///   - mayBeElsewhere: Whether the type has a value for a body without the field.
  ///   - keyPath: The key path, for messages.
  ///   - value: Returns its value in a model; `nil` for a model of another type.
  package init(
    _ stored: FieldPath, mayBeElsewhere: Bool, keyPath: @escaping @Sendable () -> String,
    value: @escaping @Sendable (any SimpleModel) -> QueryValue?
  ) {
    path = FieldPath(stored.name, fallbacks: [], reading: stored.reading)
    self.stored = stored
    self.mayBeElsewhere = mayBeElsewhere
    self.keyPath = keyPath
    self.value = value
  }

  /// Whether a child type on the path has a value for a body without a field, as far as known.
  var mayBeElsewhereInChild: Bool { isElsewhereInChild.load(ordering: .relaxed) }

  /// Whether instances have proven the name.
  package var isProven: Bool { agreements.load(ordering: .relaxed) >= Self.chanceCountMaximum }

  /// Compares an instance with its encoded form.
  ///
  /// - Throws: `ModelError` `misdeclaredField`.
  func check(
    _ model: any SimpleModel, _ body: UnsafeRawBufferPointer, _ children: any FieldChildren
  ) throws {
    guard let value = value(model) else { return }
    // An unreadable child causes an error when it is read.
    let body = unsafe Span<UInt8>(_unsafeBytes: body)
    guard let findings = try? path.findings(in: body, children) else { return }
    if try path.mayBeElsewhere(
      in: findings.childTypes.compactMap(children.swiftType))
    {
      isElsewhereInChild.store(true, ordering: .relaxed)
    }
    guard value.tells, let (found, keys) = try? path.compare(value, findings, children)
    else { return }
    let problem: String
    switch found {
    case .same:
      agreements.add(keys.count == 1 ? Self.chanceCountMaximum : 1, ordering: .relaxed)
      return
    case .unknown: return
    case .missing:
      if mayBeElsewhere { return }
      problem = "the record has no such field; "
    case .other: problem = "what is coded there has another value; "
    }
    throw ModelError(
      .misdeclaredField,
      reason: "\(keyPath()) is declared as \"\(path.name)\", but " + problem + Self.advice(keys)
    ).inside(path.name)
  }

  private static func advice(_ keys: [String]) -> String {
    keys.isEmpty
      ? "declare it under its coding key"
      : "the value is coded as " + keys.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}

extension QueryValue {
  /// Whether the value can prove a field: it is not null.
  fileprivate var tells: Bool {
    switch self {
    case .null: false
    case .elements(let values): values.contains { $0 != .null }
    default: true
    }
  }
}

extension FieldPath {
  /// The result of comparing a declared field with a body.
  fileprivate enum Verdict {
    /// The body has the value under the name.
    case same
    /// The body has another value under the name.
    case other
    /// The body does not have the field.
    case missing
    /// The value is in a child's record that is not available.
    case unknown
  }

  /// Whether a type on the path has a default or a former name for a step.
  fileprivate func mayBeElsewhere(in types: [any SimpleModel.Type]) -> Bool {
    types.contains { type in
      parts.contains { part in
        let name = String(decoding: part.key.bytes, as: UTF8.self)
        return type.fieldDefaults[name] != nil || type.formerFieldNames[name] != nil
      }
    }
  }

  /// Compares a value other than null with the findings in a body; also returns the other keys with
  /// that value.
  fileprivate func compare(
    _ value: QueryValue, _ findings: FieldFindings, _ children: any FieldChildren
  ) throws -> (Verdict, [String]) {
    if findings.isBeyond { return (.unknown, []) }
    let values = try findings.leaves.map { try $0.value(children) }
    // A list as a whole has no comparable value.
    if !hasElements, case .elements = value { return (.other, [name + "[]"]) }
    let isSame = hasElements ? Self.haveSame(values, value) : values.first == value
    let keys = try keys(of: findings, value, children)
    return (isSame ? .same : findings.isMissing ? .missing : .other, keys)
  }
}
