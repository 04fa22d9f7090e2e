import PandoLMDB

extension CountedList {
  /// Inserts elements before a position.
  ///
  /// - Parameters:
  ///   - elements: The elements in order.
  ///   - index: A position of the list; `count` appends.
  ///   - transaction: The write transaction.
  ///   - note: Receives the elements that are now in another leaf, including the inserted ones.
  /// - Throws: ``CountedListError``, or `LMDBError`. The list may then be partly changed: end the
  ///   transaction or the nested one around the call.
  /// - Complexity: O(log *n* + *m*) for *m* elements. One element rewrites a row on each level, and
  ///   one more for each overflow.
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
  ///   - element: Its bytes, from none up to 1 GiB.
  ///   - index: Its position; `count` appends.
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

  /// Appends elements.
  ///
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n* + *m*) for *m* elements.
  func append(
    contentsOf elements: some Sequence<[UInt8]>, in transaction: inout WriteTransaction
  ) throws {
    let count = try count(in: transaction.snapshot)
    try insert(contentsOf: elements, at: count, in: &transaction)
  }

  /// Replaces an element.
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

  /// Replaces a range of positions.
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
  ///   - index: The position of the element.
  ///   - destination: Its position afterwards.
  ///   - transaction: The write transaction.
  ///   - note: Receives the elements that are now in another leaf, including this one.
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n*).
  /// - Precondition: Both positions are below `count`.
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

  /// Removes all elements and rows, also those of a damaged list.
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
  /// The decision about an element in ``edit(in:_:)``.
  enum Edit: Equatable, Sendable {
    case keep
    /// The element stays, and so do all after it.
    case keepRest
    case replace([UInt8])
    case remove
  }

  /// The result of ``edit(in:_:)``, in ascending positions of the list before the change.
  struct EditResult: Equatable, Sendable {
    var replaced: [Int] = []
    var removed: [Int] = []

    var isEmpty: Bool { replaced.isEmpty && removed.isEmpty }
  }

  /// Calls a closure for each element, in list order, then applies its decisions.
  ///
  /// Only leaves with a change are written, each of them once.
  ///
  /// - Parameters:
  ///   - transaction: The write transaction.
  ///   - leaves: The leaves to read; `nil` means all.
  ///   - mayChange: Receives a leaf's block, its items and their number; returns `false` if all of
  ///     them stay.
  ///   - note: Receives the elements that are now in another leaf.
  ///   - decide: Receives an element's position and its bytes, valid during the call.
  /// - Returns: The replaced and the removed positions.
  /// - Throws: ``CountedListError``, `LMDBError`, or the error of `decide`. The list is unchanged
  ///   if `decide` throws. After another error it may be partly changed: end the transaction or the
  ///   nested one around the call.
  /// - Complexity: O(*n* + *r* log *n*) for *n* elements and *r* changed leaves.
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
  /// The path to the leaf at a position, and the next unused block.
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
  /// The new items from an index to the last edited one.
  ///
  /// - Parameters:
  ///   - first: The index of the first edited item.
  ///   - edits: Edits of items of this run, in ascending positions.
  ///   - start: The position of the run's first item, as in `edits`.
  /// - Returns: The new items, and the number of old ones that they replace.
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
