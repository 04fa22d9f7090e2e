import FoundationEssentials
import PandoModels
import PandoSystem
import Synchronization

/// The facts that the coder needs about a type, determined once and kept until the process ends.
///
/// A run-time check for a conformance costs more than encoding a small field; keeping metatypes
/// costs nothing.
///
/// All properties are constants: casts of the type, and facts that are derived from it.
struct TypeTraits {
  /// The type, if its values with identifiers are nodes.
  let model: (any Model.Type)?
  /// The type, if it is a model of any kind.
  let simpleModel: (any SimpleModel.Type)?
  /// The type, if this module encodes it.
  let encodable: (any RecordEncodable.Type)?
  /// The type, if this module decodes it.
  let decodable: (any RecordDecodable.Type)?
  /// The type, if it has its own field coding.
  let fields: (any FieldCodable.Type)?
  /// The type, if it decodes itself from one item.
  let item: (any RecordItemDecodable.Type)?
  /// The type, if it declares defaults or former names of fields.
  let history: (any FieldHistory.Type)?
  /// Whether values may be of a subclass.
  let isClass: Bool
  /// Whether its values have places for children, if values with identifiers are nodes.
  let childPlaces: ChildPlaces?
  /// Whether the default `merge(_:)` has run for its values, if they are models.
  let defaultMerge: DefaultMerge?

  init(of type: Any.Type) {
    model = type as? any Model.Type
    simpleModel = type as? any SimpleModel.Type
    encodable = type as? any RecordEncodable.Type
    decodable = type as? any RecordDecodable.Type
    fields = type as? any FieldCodable.Type
    item = type as? any RecordItemDecodable.Type
    let history = type as? any FieldHistory.Type
    let isSilent = history.map { $0.fieldDefaults.isEmpty && $0.formerFieldNames.isEmpty }
    self.history = isSilent == false ? history : nil
    isClass = type is AnyClass
    childPlaces = model == nil ? nil : ChildPlaces()
    defaultMerge = model == nil ? nil : DefaultMerge()
  }

  /// Whether values are stored whole: parts of a simple model are never nodes.
  var isWhole: Bool { simpleModel != nil && model == nil }
}

/// The traits of all types used so far: a hash table that is read without a lock.
///
/// Types are never removed, so the table only grows. A slot's value is written before its key and
/// never changes afterwards. A full table is copied into a larger one and kept for its present
/// readers; all old tables together are as large as the last.
enum TypeTable {
  /// Returns the traits of a type, valid until the process ends.
  static func traits(of type: Any.Type) -> UnsafePointer<TypeTraits> {
    // The identity of a type is unique in the process and never zero.
    let key = UInt(bitPattern: ObjectIdentifier(type))
    if let table = unsafe Table(current.load(ordering: .acquiring)),
      let found = unsafe table.find(key)
    {
      return unsafe found
    }
    return unsafe insert(type, key: key)
  }

  /// The address of the newest table; 0 before the first.
  private static let current = Atomic<UInt>(0)
  /// The number of types in the newest table; its lock is for inserting.
  private static let count = Locked(0)

  @inline(never)
  private static func insert(_ type: Any.Type, key: UInt) -> UnsafePointer<TypeTraits> {
    // Made outside the lock, because a cast may run arbitrary code of the runtime. If two threads
    // insert one type at once, one of the results is discarded.
    let made = UnsafeMutablePointer<TypeTraits>.allocate(capacity: 1)
    unsafe made.initialize(to: TypeTraits(of: type))
    let address = UInt(bitPattern: made)
    let found = count.withLock { count -> UInt in
      var table = unsafe Table(current.load(ordering: .relaxed))
      if let found = unsafe table?.find(key) { return UInt(bitPattern: found) }
      let capacity = unsafe table?.capacity ?? 0
      if count * 2 >= capacity {
        let larger = unsafe Table(capacity: max(64, capacity * 2))
        unsafe table?.copy(into: larger)
        unsafe table = larger
        unsafe current.store(larger.address, ordering: .releasing)
      }
      guard let table = unsafe table else { preconditionFailure("a table was made above") }
      unsafe table.insert(key, address)
      count += 1
      return address
    }
    guard let traits = unsafe UnsafePointer<TypeTraits>(bitPattern: found) else {
      preconditionFailure("the table holds addresses of traits")
    }
    return unsafe traits
  }
}

/// A block of memory that is never freed.
///
/// ```
/// slot 0     capacity, a power of two
/// slot 2i+1  key: the address of a metatype; 0 if the slot is free
/// slot 2i+2  value: the address of the traits
/// ```
@unsafe private struct Table {
  private let words: UnsafeMutablePointer<Atomic<UInt>>
  let capacity: Int

  var address: UInt { unsafe UInt(bitPattern: words) }

  init?(_ address: UInt) {
    guard let words = unsafe UnsafeMutablePointer<Atomic<UInt>>(bitPattern: address) else {
      return nil
    }
    unsafe self.words = words
    unsafe capacity = Int(bitPattern: words[0].load(ordering: .relaxed))
  }

  init(capacity: Int) {
    unsafe self.capacity = capacity
    unsafe words = .allocate(capacity: 1 + 2 * capacity)
    for index in 0...(2 * capacity) {
      unsafe (words + index).initialize(to: Atomic(index == 0 ? UInt(capacity) : 0))
    }
  }

  /// The first slot of a key's search; the lowest bits are omitted, since metatypes are aligned.
  private func start(_ key: UInt) -> Int {
    unsafe Int(truncatingIfNeeded: (key >> 4 &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity - 1)
  }

  func find(_ key: UInt) -> UnsafePointer<TypeTraits>? {
    var index = unsafe start(key)
    while true {
      let found = unsafe words[2 * index + 1].load(ordering: .acquiring)
      if found == key {
        let address = unsafe words[2 * index + 2].load(ordering: .relaxed)
        return unsafe UnsafePointer(bitPattern: address)
      }
      if found == 0 { return nil }
      index = unsafe (index + 1) & (capacity - 1)
    }
  }

  func insert(_ key: UInt, _ traits: UInt) {
    var index = unsafe start(key)
    while unsafe words[2 * index + 1].load(ordering: .relaxed) != 0 {
      index = unsafe (index + 1) & (capacity - 1)
    }
    unsafe words[2 * index + 2].store(traits, ordering: .relaxed)
    unsafe words[2 * index + 1].store(key, ordering: .releasing)
  }

  func copy(into larger: Table) {
    for index in unsafe 0..<capacity {
      let key = unsafe words[2 * index + 1].load(ordering: .relaxed)
      guard key != 0, let traits = unsafe find(key) else { continue }
      unsafe larger.insert(key, UInt(bitPattern: traits))
    }
  }
}

/// Whether models of a type have places for children, determined at the first lookup of a model's
/// children and kept until the process ends.
///
/// A child is in a property. Without encoding, a model whose stored properties are all plain values
/// therefore has none.
final class ChildPlaces: Sendable {
  private enum Answer: UInt8, AtomicRepresentable {
    case unknown, some, none
  }

  private let answer = Atomic(Answer.unknown)

  /// Whether a model has no place for a child.
  static func areMissing<M: Model>(in model: M) -> Bool {
    guard let places = unsafe TypeTable.traits(of: M.self).pointee.childPlaces else { return false }
    switch places.answer.load(ordering: .relaxed) {
    case .some: return false
    case .none: return true
    case .unknown:
      let isMissing = hasPlainProperties(model)
      places.answer.store(isMissing ? .none : .some, ordering: .relaxed)
      return isMissing
    }
  }

  /// Whether all stored properties of a structure are plain values.
  private static func hasPlainProperties<M: Model>(_ model: M) -> Bool {
    if model is any CustomReflectable { return false }
    let mirror = Mirror(reflecting: model)
    guard mirror.displayStyle == .struct else { return false }
    var size = 0
    for property in mirror.children {
      let type = Swift.type(of: property.value)
      guard isPlain(type) else { return false }
      size = end(of: type, after: size)
    }
    // A property of an existential type reflects the type of its present value, whose size is
    // different.
    return size == MemoryLayout<M>.size
  }

  /// Whether values are texts, numbers and the like, or optionals, lists, sets and maps of such.
  private static func isPlain(_ type: Any.Type) -> Bool {
    if type is any RecordScalar.Type || type == URL.self { return true }
    guard let container = type as? any PlainContainer.Type else { return false }
    return container.contents.allSatisfy { isPlain($0) }
  }

  /// The end of a stored property after others.
  private static func end(of type: Any.Type, after size: Int) -> Int {
    func end<Value>(_ type: Value.Type) -> Int {
      let alignment = MemoryLayout<Value>.alignment
      return (size + alignment - 1) / alignment * alignment + MemoryLayout<Value>.size
    }
    return _openExistential(type, do: end)
  }
}

/// Whether a type of models has no own `merge(_:)`, determined when the default runs for it.
final class DefaultMerge: Sendable {
  private let ran = Atomic(false)

  var hasRun: Bool { ran.load(ordering: .relaxed) }

  func note() { if !hasRun { ran.store(true, ordering: .relaxed) } }
}

/// A container type, whose values contain only values of other types.
private protocol PlainContainer {
  static var contents: [Any.Type] { get }
}

extension Optional: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Wrapped.self] }
}

extension Array: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Element.self] }
}

extension Set: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Element.self] }
}

extension Dictionary: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Key.self, Value.self] }
}
