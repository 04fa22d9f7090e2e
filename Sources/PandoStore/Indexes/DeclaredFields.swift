import PandoSystem
public import PandoModels
import Synchronization

/// A model type that says under which names its fields are coded, so that filters can name them.
///
/// What it says is compared with what its coding writes: see ``DeclaredFields``. Every `Entity` is one.
public protocol FieldDeclaring: SimpleModel {
  /// What the type declares; the same object each time.
  static var declaredFields: DeclaredFields { get }
}

/// The fields that a type declares, each with what instances have said of it so far.
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

  /// The field of a name, if it has not been proven yet.
  package func open(_ name: String) -> DeclaredField? {
    fields.first { $0.path.name == name && !$0.isProven }
  }

  /// Compares an instance with its encoded form.
  ///
  /// - Throws: `ModelError` `misdeclaredField`.
  func check(_ model: any SimpleModel, _ body: UnsafeRawBufferPointer) throws {
    for field in fields where !field.isProven { try unsafe field.check(model, body) }
  }
}

/// One field that a type declares.
package final class DeclaredField: Sendable {
  /// How many values that stand elsewhere too are as good as one that does not.
  ///
  /// Two fields that are always equal can't be told apart, and need not be.
  private static let chanceCountMaximum = 1000

  let path: FieldPath
  private let keyPath: @Sendable () -> String
  private let value: @Sendable (any SimpleModel) -> QueryValue?
  /// Whether the type has a value where a body lacks the field.
  private let mayBeElsewhere: Bool
  private let agreements = Atomic<Int>(0)

  /// Makes a field of which nothing is known.
  ///
  /// - Parameters:
  ///   - path: Where its name leads to in a body.
  ///   - mayBeElsewhere: Whether the type has a value where a body lacks the field.
  ///   - keyPath: The key path, for people.
  ///   - value: Its value in a model; `nil` for one of another type.
  package init(
    _ path: FieldPath, mayBeElsewhere: Bool, keyPath: @escaping @Sendable () -> String,
    value: @escaping @Sendable (any SimpleModel) -> QueryValue?
  ) {
    self.path = path
    self.mayBeElsewhere = mayBeElsewhere
    self.keyPath = keyPath
    self.value = value
  }

  /// Whether an instance has told that the name is right.
  package var isProven: Bool { agreements.load(ordering: .relaxed) >= Self.chanceCountMaximum }

  /// Compares an instance with its encoded form.
  ///
  /// - Throws: `ModelError` `misdeclaredField`.
  func check(_ model: any SimpleModel, _ body: UnsafeRawBufferPointer) throws {
    guard let value = value(model) else { return }
    if case .null = value { return }
    // What can't be read is told by the one who reads it.
    guard let verdict = unsafe try? path.verdict(value, body) else { return }
    let problem: String
    switch verdict {
    case .agrees(let isAlone):
      agreements.add(isAlone ? Self.chanceCountMaximum : 1, ordering: .relaxed)
      return
    case .absent(let keys):
      if mayBeElsewhere { return }
      problem = "the record has no such field; " + Self.advice(keys)
    case .differs(let keys):
      problem = "what is coded there has another value; " + Self.advice(keys)
    case .child(let name):
      problem =
        "\"\(name)\" is a node with a record of its own, whose fields this record lacks; keep its "
        + "identifier, or what is asked for, in a field of this type, or query the node's own type"
    }
    throw ModelError(
      .misdeclaredField, reason: "\(keyPath()) is declared as \"\(path.name)\", but \(problem)"
    ).inside(path.name)
  }

  private static func advice(_ keys: [String]) -> String {
    keys.isEmpty
      ? "declare it under its coding key"
      : "the value is coded as " + keys.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}

extension FieldPath {
  /// What a body says of a declared field.
  fileprivate enum Verdict {
    /// The value is there; `isAlone` if no other field beside it has it.
    case agrees(isAlone: Bool)
    /// There is no such field; the value is under these keys.
    case absent([String])
    /// There is another value; this one is under these keys.
    case differs([String])
    /// The path leads into a node.
    case child(String)
  }

  /// Compares a value, which is not null, with what is found in a body.
  fileprivate func verdict(
    _ value: QueryValue, _ body: UnsafeRawBufferPointer
  ) throws(CBORError) -> Verdict {
    let start = unsafe CBORReader(body)
    var reader = start
    var map = start
    var isThere = try Self.find(whole, in: &reader)
    if !isThere, !parts.isEmpty {
      reader = start
      for (index, part) in parts.enumerated() {
        map = reader
        isThere = try Self.find(part, in: &reader)
        if !isThere { break }
        if try Self.isReference(reader) {
          let keys = parts[...index].map { String(decoding: $0.bytes, as: UTF8.self) }
          return .child(keys.joined(separator: "."))
        }
      }
    }
    guard isThere else { return .absent(try Self.keys(of: value, in: start)) }
    guard try Self.value(in: &reader) == value else {
      return .differs(try Self.keys(of: value, in: start))
    }
    return .agrees(isAlone: try Self.keys(of: value, in: map).count == 1)
  }

  private static func isReference(_ reader: CBORReader) throws(CBORError) -> Bool {
    let head = try reader.peek()
    return head.major == .tag
      && (head.argument == RecordTag.requiredReference
        || head.argument == RecordTag.optionalReference)
  }

  /// The keys of a map under which there is a value.
  private static func keys(
    of value: QueryValue, in map: CBORReader
  ) throws(CBORError) -> [String] {
    var reader = map
    guard let count = try openMap(in: &reader) else { return [] }
    var keys: [String] = []
    for _ in 0..<count {
      guard try reader.peek().major == .text else { return keys }
      let key = try reader.text()
      var item = reader
      if try Self.value(in: &item) == value { keys.append(key) }
      try reader.skip()
    }
    return keys
  }
}
