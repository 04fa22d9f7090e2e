import PandoSystem
import Synchronization

/// An index of the keys of one map, in memory that is used again and never freed.
///
/// What refers to it (``FieldReader``) is counted by nobody, so that reading a field costs no counting;
/// instead both hold a ticket. A new use of the memory makes a new ticket, and old readers refuse.
@unsafe struct FieldIndex: ~Copyable {
  /// Names the present use.
  ///
  /// Atomic, because a reader that a model has kept may ask for it on any thread. All else is touched
  /// by holders of the present ticket only, which are on one thread.
  let ticket = Atomic<UInt64>(0)
  /// Valid while the ticket is.
  unowned(unsafe) var session: DecodingSession
  /// The one below in the list that this is in.
  var next: UnsafeMutablePointer<FieldIndex>?
  /// Whether nobody needs it any longer, though others above it are in use.
  var isReleased = false
  var fields: UnsafeMutablePointer<FieldLocation>
  var capacity = unsafe Self.initialCapacity
  var count = 0
  /// Whether the keys are in order, so that they can be searched by halves; `nil` while unknown.
  var isSorted: Bool?
  /// How many fields have been asked for.
  var askedCount = 0
  /// The index of the field that was found last.
  var lastFound = -1
  /// What is decoded from the map, if it is the one of a whole value.
  var owner: UnsafePointer<TypeTraits>?
  /// Before the map, and behind the bytes it lies in.
  var start: UnsafeRawPointer
  var end: UnsafeRawPointer
  /// Behind the last field.
  var mapEnd: UnsafeRawPointer
  var level = 0
  /// How many readers with the present ticket have been made beside that of the kept container.
  var readerCount = 0
  /// A container whose reader has the present ticket, and the type of its keys.
  var keptContainer: AnyObject?
  var keptKeys: ObjectIdentifier?
  /// Whether the kept container has been given out for the present map.
  var isKeptInUse = false
  /// Containers for other types of keys whose readers have the present ticket, and which nobody has.
  var spareContainers: [(container: AnyObject, keys: ObjectIdentifier)] = []

  private static let initialCapacity = 16
  /// The most fields whose room is kept for other maps.
  private static let keptCapacityMaximum = 1024
  /// How many types of keys a container is kept for beside the one that was asked for last.
  private static let spareContainerCountMaximum = 3

  init(_ session: DecodingSession) {
    unsafe self.session = session
    unsafe fields = .allocate(capacity: unsafe Self.initialCapacity)
    unsafe start = UnsafeRawPointer(fields)
    unsafe end = start
    unsafe mapEnd = start
  }

  /// Indexes the fields of a map whose head has been read.
  mutating func index(_ reader: inout CBORReader, count fieldCount: Int) throws(CBORError) {
    unsafe count = 0
    unsafe isSorted = nil
    unsafe askedCount = 0
    unsafe lastFound = -1
    unsafe end = reader.end
    if unsafe capacity < fieldCount { unsafe grow(to: fieldCount) }
    let fields = unsafe fields
    // A copy that no call can reach stays in registers; it goes as far as fields are of the usual kind.
    var quickReader = reader
    var indexed = 0
    while indexed < fieldCount {
      let key = unsafe quickReader.position + 1
      guard let keyCount = quickReader.takeShortField() else { break }
      // There is room for `fieldCount` fields, which are trivial. The reader is behind the value.
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
        // Only a dictionary has keys of other kinds, and it reads them itself.
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

  /// Ends the present use: readers with its ticket refuse from now on.
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

extension FieldIndex {
  /// The container of the present map, the one that the memory served last if it can be.
  ///
  /// Containers are objects, and to make one takes as long as to read a few fields. One that nobody else
  /// has any more serves the next map too: ``retire()`` then leaves the ticket as it is. The maps of a tree
  /// are of several types in turn, so one is kept for each of a few.
  ///
  /// - Parameters:
  ///   - map: A reader with the present ticket, which goes nowhere else.
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
      // Made below for the same type of keys.
      return unsafe unsafeBitCast(container, to: KeyedDecodingContainer<Key>.self)
    }
    let made = KeyedDecodingContainer(KeyedRecordDecoder<Key>(map: map))
    guard unsafe !isKeptInUse, unsafe session.keepsContainers else { return made }
    // A container is a reference to one object and nothing else: the session has looked.
    unsafe keptContainer = unsafe unsafeBitCast(made, to: AnyObject.self)
    unsafe keptKeys = ObjectIdentifier(type)
    unsafe isKeptInUse = true
    unsafe readerCount -= 1
    return made
  }

  /// Lays the kept container aside, which nobody has, and takes the one for a type of keys, if there is
  /// one; where too many lie aside, it stays.
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
  /// Swift promises no layout of it. It is told by reflection, which names the object, once in a process;
  /// if it is something else, no container is kept.
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

  /// Makes the readers with the present ticket refuse, unless the only one is that of a container that
  /// nobody else has.
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

/// The indexes of sessions that are gone, for other sessions: their memory can't be freed.
enum SpareFieldIndexes {
  /// The list, linked by `next`.
  ///
  /// Sendable because whoever takes an index from it is its only user.
  @safe private struct List: @unchecked Sendable {
    var first: UnsafeMutablePointer<FieldIndex>?
  }

  private static let list = Locked(List())

  /// Takes an index, or makes one.
  static func take(for session: DecodingSession) -> UnsafeMutablePointer<FieldIndex> {
    let found = unsafe list.withLock { list in
      let first = unsafe list.first
      unsafe list.first = unsafe first?.pointee.next
      return unsafe first
    }
    if let found = unsafe found {
      unsafe found.pointee.session = session
      return unsafe found
    }
    let made = UnsafeMutablePointer<FieldIndex>.allocate(capacity: 1)
    unsafe made.initialize(to: FieldIndex(session))
    return unsafe made
  }

  /// Takes an index back that is in no list.
  static func put(_ index: UnsafeMutablePointer<FieldIndex>) {
    list.withLock { list in
      unsafe index.pointee.next = unsafe list.first
      unsafe list.first = unsafe index
    }
  }
}
