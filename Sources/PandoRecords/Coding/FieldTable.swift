import PandoSystem
import Synchronization

/// An index of the keys of one map, in memory that is reused and never freed.
///
/// References to it (``FieldReader``) are not counted, so reading a field needs no counting.
/// Instead, both have a ticket: a new use of the memory has a new ticket, and old readers throw.
///
/// `fields`, `capacity`, `count` and `isSorted` are the index; `start`, `end`, `mapEnd`, `level`
/// and `owner` describe the map; `askedCount` and `lastFound` speed up lookups. `readerCount` to
/// `spareContainers` decide whether ``endTicket()`` changes the ticket.
@unsafe struct FieldTable: ~Copyable {
  /// The identity of the present use.
  ///
  /// Atomic, because a reader kept by a model may read it on any thread. Only holders of the
  /// present ticket use the rest, on one thread.
  let ticket = Atomic<UInt64>(0)
  /// Valid while the ticket is.
  unowned(unsafe) var session: DecodingSession
  /// The next index in its list.
  var next: UnsafeMutablePointer<FieldTable>?
  /// Whether it is unused, although later ones are in use.
  var isReleased = false
  var fields: UnsafeMutablePointer<FieldLocation>
  var capacity = unsafe Self.initialCapacity
  var count = 0
  /// Whether the keys are sorted, for a binary search; `nil` if unknown.
  var isSorted: Bool?
  /// The number of lookups.
  var askedCount = 0
  /// The index of the last found field.
  var lastFound = -1
  /// The type of the decoded value, if the map is that of a whole value.
  var owner: UnsafePointer<TypeTraits>?
  /// The start of the map, and the end of the bytes around it.
  var start: UnsafeRawPointer
  var end: UnsafeRawPointer
  /// The end of the last field.
  var mapEnd: UnsafeRawPointer
  var level = 0
  /// The number of readers with the present ticket, except the kept container's.
  var readerCount = 0
  /// A container whose reader has the present ticket, and the type of its keys.
  var keptContainer: AnyObject?
  var keptKeys: ObjectIdentifier?
  /// Whether the kept container is in use for the present map.
  var isKeptInUse = false
  /// Unused containers for other key types, whose readers have the present ticket.
  var spareContainers: [(container: AnyObject, keys: ObjectIdentifier)] = []

  private static let initialCapacity = 16
  /// The largest capacity that is kept for other maps.
  private static let keptCapacityMaximum = 1024
  /// The number of key types with a spare container.
  private static let spareContainerCountMaximum = 3

  init(_ session: DecodingSession) {
    unsafe self.session = session
    unsafe fields = .allocate(capacity: unsafe Self.initialCapacity)
    unsafe start = UnsafeRawPointer(fields)
    unsafe end = start
    unsafe mapEnd = start
  }

  /// Indexes the fields of a map after its head.
  mutating func index(_ reader: inout CBORReader, count fieldCount: Int) throws(CBORError) {
    unsafe count = 0
    unsafe isSorted = nil
    unsafe askedCount = 0
    unsafe lastFound = -1
    unsafe end = reader.end
    if unsafe capacity < fieldCount { unsafe grow(to: fieldCount) }
    let fields = unsafe fields
    // A local copy stays in registers; it handles fields of the usual form.
    var quickReader = reader
    var indexed = 0
    while indexed < fieldCount {
      let key = unsafe quickReader.position + 1
      guard let keyCount = quickReader.takeShortField() else { break }
      // There is room for `fieldCount` fields, which are trivial. The reader is after the value.
      unsafe fields[indexed] = unsafe FieldLocation(key: key, keyCount: keyCount)
      indexed &+= 1
    }
    var fieldReader = quickReader
    for _ in indexed..<fieldCount {
      let key = unsafe fieldReader.position + 1
      if let keyCount = fieldReader.takeShortField() {
        unsafe fields[indexed] = unsafe FieldLocation(key: key, keyCount: keyCount)
        indexed += 1
        continue
      }
      guard let keyCount = try fieldReader.textCount() else {
        // Only a dictionary has other kinds of keys, and it reads them itself.
        try fieldReader.skip()
        try fieldReader.skip()
        continue
      }
      unsafe fields[indexed] = unsafe FieldLocation(key: fieldReader.position, keyCount: keyCount)
      indexed += 1
      fieldReader.advance(by: keyCount)
      try fieldReader.skip()
    }
    reader = fieldReader
    unsafe count = indexed
    unsafe mapEnd = fieldReader.position
  }

  @inline(never)
  private mutating func grow(to fieldCount: Int) {
    unsafe fields.deallocate()
    unsafe capacity = unsafe max(capacity * 2, fieldCount)
    unsafe fields = .allocate(capacity: capacity)
  }

  /// Ends the present use; readers with its ticket throw from now on.
  mutating func retire() {
    unsafe endTicket()
    unsafe owner = nil
    unsafe isReleased = false
    guard unsafe capacity > Self.keptCapacityMaximum else { return }
    unsafe fields.deallocate()
    unsafe capacity = Self.initialCapacity
    unsafe fields = .allocate(capacity: capacity)
  }
}

extension FieldTable {
  /// The container of the present map, reused if possible.
  ///
  /// Containers are objects, and making one takes as long as reading a few fields. A container
  /// without other references is reused for the next map: then ``retire()`` keeps the ticket. The
  /// maps of a tree alternate between types, so one is kept for each of a few.
  ///
  /// - Parameters:
  ///   - map: A reader with the present ticket, used only here.
  ///   - type: The type of the keys.
  /// - Returns: The container.
  mutating func container<Key: CodingKey>(
    _ map: FieldReader, keyedBy type: Key.Type
  ) -> KeyedDecodingContainer<Key> {
    if unsafe !isKeptInUse, unsafe keptKeys != ObjectIdentifier(type) {
      unsafe exchangeContainer(for: ObjectIdentifier(type))
    }
    if let container = unsafe keptContainer, unsafe keptKeys == ObjectIdentifier(type) {
      unsafe isKeptInUse = true
      unsafe readerCount -= 1
      // Made below for the same key type.
      return unsafe unsafeBitCast(container, to: KeyedDecodingContainer<Key>.self)
    }
    let made = KeyedDecodingContainer(KeyedRecordDecoder<Key>(map: map))
    guard unsafe !isKeptInUse, unsafe session.keepsContainers else { return made }
    // A container is a reference to one object and nothing else, as the session has checked.
    unsafe keptContainer = unsafe unsafeBitCast(made, to: AnyObject.self)
    unsafe keptKeys = ObjectIdentifier(type)
    unsafe isKeptInUse = true
    unsafe readerCount -= 1
    return made
  }

  /// Exchanges the unused kept container for the spare one of a key type, if any; if there are too
  /// many spare ones, it stays.
  private mutating func exchangeContainer(for keys: ObjectIdentifier) {
    guard let kept = unsafe keptContainer, let keysOfKept = unsafe keptKeys else { return }
    if let place = unsafe spareContainers.firstIndex(where: { $0.keys == keys }) {
      unsafe (keptContainer, keptKeys) = unsafe spareContainers[place]
      unsafe spareContainers[place] = (kept, keysOfKept)
    } else if unsafe spareContainers.count < Self.spareContainerCountMaximum {
      unsafe spareContainers.append((kept, keysOfKept))
      unsafe (keptContainer, keptKeys) = (nil, nil)
    }
  }

  /// Whether a container is a reference to one object and nothing else.
  ///
  /// Swift does not specify its layout. Reflection, which returns the object, checks it once per
  /// process; for another layout no container is kept.
  static let areContainersReferences: Bool = {
    typealias Container = KeyedDecodingContainer<RecordCodingKey>
    let index = unsafe SpareFieldIndexes.take(for: DecodingSession(keepingContainers: false))
    defer { unsafe SpareFieldIndexes.put(index) }
    let container = Container(KeyedRecordDecoder(map: unsafe FieldReader(index)))
    let parts = Mirror(reflecting: container).children.map(\.value)
    guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size, parts.count == 1,
      type(of: parts[0]) is AnyClass
    else { return false }
    let object = ObjectIdentifier(parts[0] as AnyObject)
    // Both are one word, which is compared and not used as an address.
    return unsafe unsafeBitCast(container, to: UInt.self) == UInt(bitPattern: object)
  }()

  /// Makes readers with the present ticket throw, unless the only one is that of a container
  /// without other references.
  mutating func endTicket() {
    let isKept =
      unsafe readerCount == 0 && isKeptInUse && isKnownUniquelyReferenced(&keptContainer)
    unsafe isKeptInUse = false
    unsafe readerCount = 0
    if isKept { return }
    unsafe keptContainer = nil
    if unsafe !spareContainers.isEmpty { unsafe spareContainers.removeAll(keepingCapacity: true) }
    unsafe ticket.store(ticket.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }
}

/// The indexes of ended sessions, for reuse: their memory can't be freed.
enum SpareFieldIndexes {
  /// The list, linked by `next`.
  ///
  /// Sendable because code that takes an index from it is its only user.
  @safe private struct List: @unchecked Sendable {
    var first: UnsafeMutablePointer<FieldTable>?
  }

  private static let list = Locked(List())

  /// Takes an index, or makes one.
  static func take(for session: DecodingSession) -> UnsafeMutablePointer<FieldTable> {
    let found = unsafe list.withLock { list in
      let first = unsafe list.first
      unsafe list.first = unsafe first?.pointee.next
      return unsafe first
    }
    if let found = unsafe found {
      unsafe found.pointee.session = session
      return unsafe found
    }
    let made = UnsafeMutablePointer<FieldTable>.allocate(capacity: 1)
    unsafe made.initialize(to: FieldTable(session))
    return unsafe made
  }

  /// Takes back an index that is in no list.
  static func put(_ index: UnsafeMutablePointer<FieldTable>) {
    list.withLock { list in
      unsafe index.pointee.next = unsafe list.first
      unsafe list.first = unsafe index
    }
  }
}
