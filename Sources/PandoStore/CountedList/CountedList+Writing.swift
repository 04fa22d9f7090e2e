import PandoLMDB

extension CountedList {
  /// Inserts elements so that the first of them gets a position.
  ///
  /// - Parameters:
  ///   - elements: The elements in order.
  ///   - index: A position of the list; `count` appends.
  ///   - transaction: Where to write.
  /// - Throws: ``CountedListError``, or `LMDBError`. The list may be half changed then: end the
  ///   transaction or the nested one around the call.
  /// - Complexity: O(log *n* + *m*) for *m* elements; one element rewrites a row on each level, and
  ///   where a row overflows one more.
  /// - Precondition: `0 <= index <= count`.
  func insert(
    contentsOf elements: some Sequence<[UInt8]>, at index: Int,
    in transaction: inout WriteTransaction
  ) throws {
    let run = try Run(elements: elements)
    if run.itemCount == 0 { return try checkRange(index..<index, in: transaction.snapshot) }
    try splice(index..<index, with: run, in: &transaction)
  }

  /// Inserts one element.
  ///
  /// - Parameters:
  ///   - element: Its bytes, none or at most 1 GiB.
  ///   - index: The position it gets; `count` appends.
  ///   - transaction: Where to write.
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
    at index: Int, with element: Span<UInt8>, in transaction: inout WriteTransaction
  ) throws {
    var run = Run(level: 0)
    try run.append(element)
    try splice(index..<(index + 1), with: run, in: &transaction)
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
  func remove(in range: Range<Int>, in transaction: inout WriteTransaction) throws {
    if range.isEmpty { return try checkRange(range, in: transaction.snapshot) }
    try splice(range, with: Run(level: 0), in: &transaction)
  }

  /// Moves one element.
  ///
  /// - Parameters:
  ///   - index: Where the element is.
  ///   - destination: Where it is afterwards.
  ///   - transaction: Where to write.
  /// - Throws: As ``insert(contentsOf:at:in:)``.
  /// - Complexity: O(log *n*).
  /// - Precondition: Both are positions of the list, below `count`.
  func move(
    from index: Int, to destination: Int, in transaction: inout WriteTransaction
  ) throws {
    let count = try count(in: transaction.snapshot)
    precondition(
      (0..<count).contains(index) && (0..<count).contains(destination),
      "move from \(index) to \(destination) in a list of \(count)")
    if index == destination { return }
    var run = Run(level: 0)
    try run.append(element(at: index, in: transaction.snapshot))
    try splice(index..<(index + 1), with: Run(level: 0), in: &transaction)
    try splice(destination..<destination, with: run, in: &transaction)
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
    _ range: Range<Int>, with run: Run, in transaction: inout WriteTransaction
  ) throws {
    var splice = try Splice(self, range, with: run, in: transaction.snapshot)
    try splice.apply(to: &transaction)
  }
}
