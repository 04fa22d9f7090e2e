import PandoLMDB

extension CountedList {
  /// Inserts elements so that the first of them gets a position.
  ///
  /// - Parameters:
  ///   - elements: The elements in order.
  ///   - index: A position of the list; `count` appends.
  ///   - transaction: The write transaction.
  ///   - note: Gets the elements that come to lie in another leaf, the inserted ones among them.
  /// - Throws: ``CountedListError``, or `LMDBError`. The list may be half changed then: end the
  ///   transaction or the nested one around the call.
  /// - Complexity: O(log *n* + *m*) for *m* elements; one element rewrites a row on each level, and
  ///   where a row overflows one more.
  /// - Precondition: `0 <= index <= count`.
  func insert(
    contentsOf elements: some Sequence<[UInt8]>, at index: Int,
    in transaction: inout WriteTransaction, noting note: MoveNote = { _ in }
  ) throws {
    let run = try Run(elements: elements)
    if run.itemCount == 0 { return try checkRange(index..<index, in: transaction.snapshot) }
    try splice(index..<index, with: run, in: &transaction, noting: note)
  }

  /// Inserts one element.
  ///
  /// - Parameters:
  ///   - element: Its bytes, none or at most 1 GiB.
  ///   - index: The position it gets; `count` appends.
  ///   - transaction: The write transaction.
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n*).
  /// - Precondition: `0 <= index <= count`.
  func insert(
    _ element: Span<UInt8>, at index: Int, in transaction: inout WriteTransaction
  ) throws {
    var run = Run(level: 0)
    try run.append(element)
    try splice(index..<index, with: run, in: &transaction)
  }

  /// Adds elements at the end.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n* + *m*) for *m* elements.
  func append(
    contentsOf elements: some Sequence<[UInt8]>, in transaction: inout WriteTransaction
  ) throws {
    let count = try count(in: transaction.snapshot)
    try insert(contentsOf: elements, at: count, in: &transaction)
  }

  /// Puts another element in the place of one.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n*).
  /// - Precondition: `0 <= index < count`.
  func replace(
    at index: Int, with element: Span<UInt8>, in transaction: inout WriteTransaction,
    noting note: MoveNote = { _ in }
  ) throws {
    var run = Run(level: 0)
    try run.append(element)
    try splice(index..<(index + 1), with: run, in: &transaction, noting: note)
  }

  /// Puts other elements in the place of a range of positions.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n* + *r* + *m*) for *r* rows removed and *m* elements inserted.
  /// - Precondition: The range lies within `0...count`.
  func replace(
    in range: Range<Int>, with elements: some Sequence<[UInt8]>,
    in transaction: inout WriteTransaction
  ) throws {
    try splice(range, with: Run(elements: elements), in: &transaction)
  }

  /// Removes a range of positions.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n* + *r*) for *r* rows removed.
  /// - Precondition: The range lies within `0...count`.
  func remove(
    in range: Range<Int>, in transaction: inout WriteTransaction, noting note: MoveNote = { _ in }
  ) throws {
    if range.isEmpty { return try checkRange(range, in: transaction.snapshot) }
    try splice(range, with: Run(level: 0), in: &transaction, noting: note)
  }

  /// Moves one element.
  ///
  /// - Parameters:
  ///   - index: Where the element is.
  ///   - destination: Where it is afterwards.
  ///   - transaction: The write transaction.
  ///   - note: Gets the elements that come to lie in another leaf, and this one.
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n*).
  /// - Precondition: Both are positions of the list, below `count`.
  func move(
    from index: Int, to destination: Int, in transaction: inout WriteTransaction,
    noting note: MoveNote = { _ in }
  ) throws {
    let count = try count(in: transaction.snapshot)
    precondition(
      (0..<count).contains(index) && (0..<count).contains(destination),
      "move from \(index) to \(destination) in a list of \(count)")
    if index == destination { return }
    var run = Run(level: 0)
    try run.append(element(at: index, in: transaction.snapshot))
    try splice(index..<(index + 1), with: Run(level: 0), in: &transaction, noting: note)
    try splice(destination..<destination, with: run, in: &transaction, noting: note)
  }

  /// Removes all elements, and with them every row, also those of a damaged list.
  ///
  /// - Throws: `LMDBError`.
  /// - Complexity: O(*r* log *r*) for *r* rows.
  func removeAll(in transaction: inout WriteTransaction) throws {
    var keys: [[UInt8]] = []
    try transaction.snapshot.scan(table, prefix: keyPrefix) { key, _ in
      keys.append([UInt8](copying: key))
      return true
    }
    for key in keys {
      try transaction.delete(key: key.span, in: table)
    }
  }

  /// Makes the list hold exactly some elements.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(*r* log *r* + *m*) for *r* rows before and *m* elements.
  func replaceAll(
    with elements: some Sequence<[UInt8]>, in transaction: inout WriteTransaction
  ) throws {
    let run = try Run(elements: elements)
    try removeAll(in: &transaction)
    if run.itemCount == 0 { return }
    try splice(0..<0, with: run, in: &transaction)
  }

  private func checkRange(_ range: Range<Int>, in snapshot: Snapshot) throws {
    let count = try count(in: snapshot)
    precondition(
      range.lowerBound >= 0 && range.upperBound <= count, "range \(range) is outside 0..<\(count)")
  }

  private func splice(
    _ range: Range<Int>, with run: Run, in transaction: inout WriteTransaction,
    noting note: MoveNote = { _ in }
  ) throws {
    var splice = try Splice(self, range, with: run, in: transaction.snapshot)
    try splice.apply(to: &transaction)
    splice.moves.forEach(note)
  }
}

extension CountedList {
  /// What becomes of an element in ``edit(in:_:)``.
  enum Edit: Equatable, Sendable {
    case keep
    /// It stays, and so do all behind it.
    case keepRest
    case replace([UInt8])
    case remove
  }

  /// What ``edit(in:_:)`` did, in ascending positions of the list as it was before.
  struct EditResult: Equatable, Sendable {
    var replaced: [Int] = []
    var removed: [Int] = []

    var isEmpty: Bool { replaced.isEmpty && removed.isEmpty }
  }

  /// Asks for each element, in list order, whether it stays, then changes the list accordingly.
  ///
  /// Only leaves in which something changes are written, each of them once.
  ///
  /// - Parameters:
  ///   - transaction: The write transaction.
  ///   - leaves: The leaves to look at; `nil` means all.
  ///   - mayChange: Gets a leaf's block, all its items and how many they are; returns `false` if all of them
  ///     stay.
  ///   - note: Gets the elements that come to lie in another leaf.
  ///   - decide: Gets an element's position and its bytes, which live during the call.
  /// - Returns: The positions that were replaced and removed.
  /// - Throws: ``CountedListError``, `LMDBError`, or what `decide` throws; the list is unchanged
  ///   when `decide` throws, and may be half changed otherwise: then end the transaction or the
  ///   nested one around the call.
  /// - Complexity: O(*n* + *r* log *n*) for *n* elements and *r* leaves that change.
  @discardableResult
  func edit(
    in transaction: inout WriteTransaction, leaves: [UInt64]? = nil,
    where mayChange: (UInt64, Span<UInt8>, Int) -> Bool = { _, _, _ in true },
    noting note: MoveNote = { _ in },
    _ decide: (Int, Span<UInt8>) throws -> Edit
  ) throws -> EditResult {
    var edits: [(position: Int, edit: Edit)] = []
    try forEach(of: transaction.snapshot, leaves: leaves, where: mayChange) { position, element in
      let edit = try decide(position, element)
      switch edit {
      case .keep: return true
      case .keepRest: return false
      case .replace, .remove:
        edits.append((position, edit))
        return true
      }
    }
    var result = EditResult()
    var rest = edits[...]
    while let (position, _) = rest.first {
      let shift = result.removed.count
      let (steps, nextBlock) = try steps(to: position - shift, in: transaction.snapshot)
      let leaf = steps[steps.count - 1]
      let group = rest.prefix { $0.position - shift < leaf.end }
      let first = position - shift - leaf.start
      let changed = try leaf.run.changedItems(from: first, group, startingAt: leaf.start + shift)
      let range = (leaf.start + first)..<(leaf.start + first + changed.itemCountBefore)
      var splice = Splice(
        self, range, with: changed.run, at: steps, steps[0].run.elementCount, nextBlock: nextBlock)
      try splice.apply(to: &transaction)
      splice.moves.forEach(note)
      rest = rest.dropFirst(group.count)
      for (position, edit) in group {
        if edit == .remove {
          result.removed.append(position)
        } else {
          result.replaced.append(position)
        }
      }
    }
    return result
  }
}

extension CountedList {
  /// The way to the leaf that holds a position, and the next unused block.
  private func steps(
    to position: Int, in snapshot: Snapshot
  ) throws -> (steps: [Splice.Step], nextBlock: UInt64) {
    guard let root = try root(in: snapshot) else {
      preconditionFailure("a list with position \(position) has a root")
    }
    return (try steps(to: position, downTo: 0, from: root, in: snapshot), root.nextBlock)
  }
}

extension CountedList.Run {
  /// What the items from an index to the last edited one become.
  ///
  /// - Parameters:
  ///   - first: The index of the first edited item.
  ///   - edits: Edits of items of this run, in ascending positions.
  ///   - start: The position of the run's first item, in the numbers of `edits`.
  /// - Returns: The new items, and how many old ones they replace.
  /// - Throws: ``CountedListError`` for an element that is too large.
  fileprivate func changedItems(
    from first: Int, _ edits: ArraySlice<(position: Int, edit: CountedList.Edit)>,
    startingAt start: Int
  ) throws(CountedListError) -> (run: Self, itemCountBefore: Int) {
    var changed = Self(level: 0)
    var rest = edits
    var (index, offset) = (0, 0)
    while let next = rest.first {
      guard let range = CountedList.elementRange(in: bytes.span, at: offset) else {
        preconditionFailure("the run is consistent")
      }
      if index == next.position - start {
        if case .replace(let element) = next.edit { try changed.append(element.span) }
        rest.removeFirst()
      } else if index >= first {
        try changed.append(bytes.span.extracting(range))
      }
      (index, offset) = (index + 1, range.upperBound)
    }
    return (changed, index - first)
  }
}
