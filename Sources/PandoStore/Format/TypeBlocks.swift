/// The rows of nodes by type that a flush has changed and not written yet.
struct TypeBlocks {
  private var places: [UInt64: Int] = [:]
  private var rows: [(number: UInt64, block: TypeBlock)] = []
  /// The place of the row that each type's last record was in: new nodes mostly share one.
  private var recentPlaces: [Int] = []

  /// The numbers of the rows.
  var numbers: some Collection<UInt64> { places.keys }

  /// The rows in the order of their numbers.
  var sorted: [(number: UInt64, block: TypeBlock)] { rows.sorted { $0.number < $1.number } }

  subscript(number: UInt64) -> TypeBlock? {
    get { places[number].map { rows[$0].block } }
    set {
      guard let newValue else { preconditionFailure("a row that has changed stays") }
      if let place = places[number] {
        rows[place].block = newValue
      } else {
        places[number] = rows.count
        rows.append((number, newValue))
      }
    }
  }

  /// Notes that a record came or went, if its row is here.
  ///
  /// - Returns: `false`, and nothing was done, if it is not.
  mutating func note(_ key: RecordKey, came: Bool) -> Bool {
    let number = TypeBlock.number(of: key)
    let type = Int(key.type)
    let place: Int
    if type < recentPlaces.count, rows[recentPlaces[type]].number == number {
      place = recentPlaces[type]
    } else {
      guard let found = places[number] else { return false }
      place = found
      let missing = type + 1 - recentPlaces.count
      if missing > 0 { recentPlaces += Array(repeating: found, count: missing) }
      recentPlaces[type] = found
    }
    if came { rows[place].block.insert(key.node) } else { rows[place].block.remove(key.node) }
    return true
  }
}
