public import PandoModels
import PandoSystem
import Synchronization

/// A model type that says under which names its fields are coded, so that filters can name them.
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {  // Queryable conforms to it
///   var id: Int
///   var name: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let fields: [EntityField<Person>] = [.indexed(\.name)]
/// }
/// ```
///
/// What it says is compared with what its coding writes: see ``DeclaredFields``. Every `Entity` is one.
public protocol FieldDeclaring: SimpleModel {
  /// What the type declares; the same object each time.
  static var declaredFields: DeclaredFields { get }
}

/// The fields that a type declares, each with what instances have said of it so far.
///
/// ```swift
/// struct Person: Model, Codable, Equatable, Queryable {
///   enum CodingKeys: String, CodingKey { case id, name = "full_name" }
///   var id: Int
///   var name: String
///   var modelIdentifier: String? { "Person:\(id)" }
///   static let fields: [EntityField<Person>] = [.field(\.name, "full_name")]  // as it is coded
/// }
/// ```
///
/// A declared name that is not the coding key would make filters and indexes look at nothing, or at
/// something else. So each instance that is written is encoded and compared, until one has told: its
/// value stands where the name leads to, and nowhere beside it. From then on the field is proven, and
/// costs nothing more in this process. A nil optional tells nothing.
///
/// - Note: Any thread.
public final class DeclaredFields: Sendable {
  let fields: [DeclaredField]
  private let type: ObjectIdentifier

  private init(_ type: ObjectIdentifier, _ fields: [DeclaredField]) {
    self.type = type
    self.fields = fields
  }

  /// One for each type; asked for once a flush, and while fields are not proven.
  private static let all = Locked<[DeclaredFields]>([])

  /// The fields of a type, made when they are first asked for.
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

  /// Whether a field has not been proven yet.
  var areOpen: Bool { fields.contains { !$0.isProven } }

  /// Whether a child type on the way to a field has a value where a body lacks it, as far as instances
  /// have shown.
  package func mayBeElsewhereInChild(_ name: String) -> Bool {
    fields.contains { $0.path.name == name && $0.mayBeElsewhereInChild }
  }

  /// The name of a field as the type reads it; `nil` if the type declares no such field.
  func stored(_ name: String) -> FieldPath? {
    fields.first { $0.path.name == name }?.stored
  }

  /// The field of a name, if it has not been proven yet.
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

/// One field that a type declares.
package final class DeclaredField: Sendable {
  /// How many values that stand elsewhere too are as good as one that does not.
  ///
  /// Two fields that are always equal can't be told apart, and need not be.
  private static let chanceCountMaximum = 1000

  /// The name as it stands in what the type writes.
  let path: FieldPath
  /// The same with the former names and the defaults that the type declares.
  let stored: FieldPath
  private let keyPath: @Sendable () -> String
  private let value: @Sendable (any SimpleModel) -> QueryValue?
  /// Whether the type has a value where a body lacks the field.
  private let mayBeElsewhere: Bool
  private let agreements = Atomic<Int>(0)
  /// Whether a child type on the way has a value where a body lacks a field.
  private let isElsewhereInChild = Atomic<Bool>(false)

  /// Makes a field of which nothing is known.
  ///
  /// - Parameters:
  ///   - stored: Where its name leads to in a record.
  ///   - mayBeElsewhere: Whether the type has a value where a body lacks the field.
  ///   - keyPath: The key path, for people.
  ///   - value: Its value in a model; `nil` for one of another type.
  package init(
    _ stored: FieldPath, mayBeElsewhere: Bool, keyPath: @escaping @Sendable () -> String,
    value: @escaping @Sendable (any SimpleModel) -> QueryValue?
  ) {
    path = FieldPath(stored.name)
    self.stored = stored
    self.mayBeElsewhere = mayBeElsewhere
    self.keyPath = keyPath
    self.value = value
  }

  /// Whether a child type on the way has been met that has a value where a body lacks a field.
  var mayBeElsewhereInChild: Bool { isElsewhereInChild.load(ordering: .relaxed) }

  /// Whether an instance has told that the name is right.
  package var isProven: Bool { agreements.load(ordering: .relaxed) >= Self.chanceCountMaximum }

  /// Compares an instance with its encoded form.
  ///
  /// - Throws: `ModelError` `misdeclaredField`.
  func check(
    _ model: any SimpleModel, _ body: UnsafeRawBufferPointer, _ children: any FieldChildren
  ) throws {
    guard let value = value(model) else { return }
    // What can't be read is told by the one who reads it.
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
  /// Whether a value is more than what anything can be.
  fileprivate var tells: Bool {
    switch self {
    case .null: false
    case .elements(let values): values.contains { $0 != .null }
    default: true
    }
  }
}

extension FieldPath {
  /// What a body says of a declared field.
  fileprivate enum Verdict {
    /// The value is there.
    case same
    /// There is another value.
    case other
    /// There is no such field.
    case missing
    /// It lies in the record of a child that is not at hand.
    case unknown
  }

  /// Whether one of the types on the way has a default or a former name for a step.
  fileprivate func mayBeElsewhere(in types: [any SimpleModel.Type]) -> Bool {
    types.contains { type in
      parts.contains { part in
        let name = String(decoding: part.key.bytes, as: UTF8.self)
        return type.fieldDefaults[name] != nil || type.formerFieldNames[name] != nil
      }
    }
  }

  /// Compares a value, which is not null, with what is found in a body; and says under which keys beside
  /// the field it stands.
  fileprivate func compare(
    _ value: QueryValue, _ findings: FieldFindings, _ children: any FieldChildren
  ) throws -> (Verdict, [String]) {
    if findings.isBeyond { return (.unknown, []) }
    let values = try findings.leaves.map { try $0.value(children) }
    // A list as a whole has no value that could be compared.
    if !hasElements, case .elements = value { return (.other, [name + "[]"]) }
    let isSame = hasElements ? Self.haveSame(values, value) : values.first == value
    let keys = try keys(of: findings, value, children)
    return (isSame ? .same : findings.isMissing ? .missing : .other, keys)
  }
}
