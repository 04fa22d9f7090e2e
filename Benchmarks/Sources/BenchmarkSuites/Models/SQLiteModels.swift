/// The model workloads on SQLite.
struct SQLiteModels {
  private let directory: WorkingDirectory
  private let database: SQLiteDatabase
  private let people: SQLiteReader<Person>
  private let messages: SQLiteReader<Message>

  init(_ directory: WorkingDirectory) throws {
    self.directory = directory
    database = try SQLiteDatabase(directory: directory)
    people = try SQLiteReader<Person>(database)
    messages = try SQLiteReader<Message>(database)
  }

  /// Inserts people, all in one transaction unless a number is given.
  func put(_ people: FlatPeople, peoplePerCommit: Int? = nil) throws {
    try database.put(people, peoplePerCommit: peoplePerCommit ?? people.count)
  }

  /// Inserts trees in one transaction.
  func put(_ trees: FlatTrees) throws { try database.put(trees) }

  /// Moves the log into the database file, where reading is fastest.
  func checkpoint() throws { try database.checkpoint() }

  /// Gets people, each in a read transaction of its own.
  func peopleEach(_ identifiers: [String]) throws -> UInt64 {
    var checksum = ModelChecksum(isThorough: false)
    for identifier in identifiers { checksum.add(try people.model(identifier)) }
    return checksum.value
  }

  /// Gets people inside one read transaction.
  func people(_ identifiers: [String]) throws -> UInt64 {
    try database.read { try peopleEach(identifiers) }
  }

  /// Gets trees, each in a read transaction of its own.
  func treesEach(_ identifiers: [String], isThorough: Bool = false) throws -> UInt64 {
    var checksum = ModelChecksum(isThorough: isThorough)
    for identifier in identifiers { checksum.add(try messages.model(identifier)) }
    return checksum.value
  }

  /// Gets trees inside one read transaction.
  ///
  /// - Parameters:
  ///   - identifiers: Which trees, in which order.
  ///   - isThorough: Whether every byte counts.
  /// - Returns: A checksum of the trees.
  /// - Throws: ``BenchmarkError`` if a tree is missing or SQLite fails.
  func trees(_ identifiers: [String], isThorough: Bool = false) throws -> UInt64 {
    try database.read { try treesEach(identifiers, isThorough: isThorough) }
  }

  /// A hash of the identifiers of all people in byte order (FNV-1a).
  func fingerprint() throws -> UInt64 { try database.fingerprint() }
}
