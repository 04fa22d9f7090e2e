import PandoModels

/// The rows of types that a flush has read or changed.
///
/// Most flushes use few types, which are searched one by one.
struct TypeRows {
  private struct Entry {
    let name: String
    var row: TypeRow
    var hasChanged = false
  }

  /// Up to this number, types are searched one by one.
  private static let listedCountMaximum = 8

  private var entries: [Entry] = []
  /// The positions of the types; empty while there are few.
  private var positions: [ByteString: Int] = [:]

  private func position(_ name: String) -> Int? {
    guard positions.isEmpty else { return positions[ByteString(name)] }
    return entries.firstIndex { $0.name.hasSameBytes(as: name) }
  }

  subscript(name: String) -> TypeRow? { position(name).map { entries[$0].row } }

  /// The name of a type; `nil` if the flush has not read it.
  func name(ofNumber number: UInt32) -> String? {
    entries.first { $0.row.number == number }?.name
  }

  /// Adds the row of a type that the flush has not read before.
  mutating func add(_ row: TypeRow, _ name: String) {
    entries.append(Entry(name: name, row: row))
    if !positions.isEmpty {
      positions[ByteString(name)] = entries.count - 1
    } else if entries.count > Self.listedCountMaximum {
      for (position, entry) in entries.enumerated() { positions[ByteString(entry.name)] = position }
    }
  }

  /// Changes the row of a type that the flush has read.
  mutating func change(_ name: String, _ body: (inout TypeRow) -> Void) {
    guard let position = position(name) else { return }
    body(&entries[position].row)
    entries[position].hasChanged = true
  }

  /// The changed rows in the order in which they were read; afterwards they count as written.
  mutating func takeChanged() -> [(name: String, row: TypeRow)] {
    var changed: [(name: String, row: TypeRow)] = []
    for index in entries.indices where entries[index].hasChanged {
      changed.append((entries[index].name, entries[index].row))
      entries[index].hasChanged = false
    }
    return changed
  }
}
