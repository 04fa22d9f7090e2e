import PandoSystem

/// The errors of left-out records that were reported: those of the last read, and those of changes since.
struct ReportedRecords: Sendable {
  /// The largest number of errors of changes that are kept.
  ///
  /// A query without a limit may never be read again. Above this, errors of changes may be reported again.
  static var changedCountMaximum: Int { 1000 }

  private var read: Set<ByteString> = []
  private var changed: Set<ByteString> = []

  var count: Int { read.count + changed.count }

  /// Keeps the errors of a read, and no others.
  ///
  /// - Returns: Whether each is new.
  mutating func replace(by texts: [ByteString]) -> [Bool] {
    let former = read.union(changed)
    (read, changed) = ([], [])
    return texts.map { read.insert($0).inserted && !former.contains($0) }
  }

  /// Adds the errors of changes.
  ///
  /// - Returns: Whether each is new.
  mutating func add(_ texts: [ByteString]) -> [Bool] {
    texts.map { text in
      if read.contains(text) || changed.contains(text) { return false }
      if changed.count >= Self.changedCountMaximum { changed = [] }
      changed.insert(text)
      return true
    }
  }
}
