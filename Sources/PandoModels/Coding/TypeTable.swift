import FoundationEssentials
import PandoSystem
import Synchronization

/// What the coder must know of a type, found once and kept for the life of the process.
///
/// Asking the runtime whether a type conforms to a protocol costs more than encoding a small field;
/// metatypes with their conformances cost nothing to keep.
struct TypeTraits {
  /// The type, if its values are nodes when they have an identifier.
  let model: (any Model.Type)?
  /// The type, if it is a model of any kind.
  let simpleModel: (any SimpleModel.Type)?
  /// The type, if this module encodes it itself.
  let encodable: (any RecordEncodable.Type)?
  /// The type, if this module decodes it itself.
  let decodable: (any RecordDecodable.Type)?
  /// The type, if it reads and writes its fields itself.
  let fields: (any FieldCodable.Type)?
  /// The type, if it reads itself from one item.
  let item: (any RecordItemDecodable.Type)?
  /// The type, if it declares defaults or former names of fields.
  let history: (any FieldHistory.Type)?
  /// Where the fields of its values are, if it reads them itself.
  let hints: FieldHints?
  /// Whether values may be of a type derived from it.
  let isClass: Bool
  /// Whether values of it have places for children, if they are nodes when they have an identifier.
  let childPlaces: ChildPlaces?
  /// Whether values of it have been merged by the default of `merge(_:)`, if they are models.
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
    hints = decodable == nil ? FieldHints() : nil
    isClass = type is AnyClass
    childPlaces = model == nil ? nil : ChildPlaces()
    defaultMerge = model == nil ? nil : DefaultMerge()
  }

  /// Whether values of the type are stored whole: a simple model's parts are never nodes.
  var isWhole: Bool { simpleModel != nil && model == nil }
}

/// All types met so far, with their traits: a hash table that is read without a lock.
///
/// Types are never forgotten, so the table only grows. A slot is filled before its key is published
/// and never changes after; a table that is full is copied into a larger one, and the smaller one is
/// kept for readers that are still in it (together they are as large as the last one).
enum TypeTable {
  /// Returns the traits of a type; they live as long as the process.
  static func traits(of type: Any.Type) -> UnsafePointer<TypeTraits> {
    // A type's identity is unique in the process and never zero.
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
  /// Held by the one thread that inserts; the number of types in the newest table.
  private static let count = Locked(0)

  @inline(never)
  private static func insert(_ type: Any.Type, key: UInt) -> UnsafePointer<TypeTraits> {
    // Made outside the lock: a cast may run arbitrary runtime code. Of two threads that meet a type
    // at once one makes its traits in vain.
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

/// One block of memory that is never freed.
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

  /// Where the search for a key begins; metatypes are aligned, so their lowest bits say nothing.
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

/// Whether models of a type have places for children: found out from the first one that is asked for
/// its children, and kept for the life of the process.
///
/// A child is in a property, so a model all of whose stored properties are plain values has none, and
/// need not be encoded to find that out.
final class ChildPlaces: Sendable {
  private enum Answer: UInt8, AtomicRepresentable {
    case unknown, some, none
  }

  private let answer = Atomic(Answer.unknown)

  /// Whether a model can't have children, whatever its properties hold.
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
    // A property that can hold values of several types shows the type of what it holds at the moment,
    // and has another size.
    return size == MemoryLayout<M>.size
  }

  /// Whether a type's values are texts, numbers and the like, or optionals, lists, sets and maps of such.
  private static func isPlain(_ type: Any.Type) -> Bool {
    if type is any RecordScalar.Type || type == URL.self { return true }
    guard let container = type as? any PlainContainer.Type else { return false }
    return container.contents.allSatisfy { isPlain($0) }
  }

  /// Where a stored property ends that comes behind others.
  private static func end(of type: Any.Type, after size: Int) -> Int {
    func end<Value>(_ type: Value.Type) -> Int {
      let alignment = MemoryLayout<Value>.alignment
      return (size + alignment - 1) / alignment * alignment + MemoryLayout<Value>.size
    }
    return _openExistential(type, do: end)
  }
}

/// Whether a type of models has no `merge(_:)` of its own: found out when the default runs for it.
final class DefaultMerge: Sendable {
  private let ran = Atomic(false)

  var hasRun: Bool { ran.load(ordering: .relaxed) }

  func note() { if !hasRun { ran.store(true, ordering: .relaxed) } }
}

/// A type whose values hold values of other types, and nothing else.
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
