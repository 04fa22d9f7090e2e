import PandoLMDB

extension CountedList {
  /// What becomes of an element in ``edit(in:_:)``.
  enum Edit: Hashable, Sendable {
    case keep
    /// It stays, and so do all behind it.
    case keepRest
    case replace([UInt8])
    case remove
  }

  /// What ``edit(in:_:)`` did, in ascending positions of the list as it was before.
  struct EditResult: Hashable, Sendable {
    var replaced: [Int] = []
    var removed: [Int] = []

    var isEmpty: Bool { replaced.isEmpty && removed.isEmpty }
  }

  /// Asks for each element, in list order, whether it stays, then changes the list accordingly.
  ///
  /// Only leaves in which something changes are written, each of them once.
  ///
  /// - Parameters:
  ///   - transaction: Where to write.
  ///   - mayChange: Gets all items of a leaf and how many they are; returns `false` if all of them stay.
  ///   - decide: Gets an element's position and its bytes, which live during the call.
  /// - Returns: The positions that were replaced and removed.
  /// - Throws: ``CountedListError``, `LMDBError`, or what `decide` throws; the list is unchanged
  ///   when `decide` throws, and may be half changed otherwise: then end the transaction or the
  ///   nested one around the call.
  /// - Complexity: O(*n* + *r* log *n*) for *n* elements and *r* leaves that change.
  @discardableResult
  func edit(
    in transaction: inout WriteTransaction,
    where mayChange: (Span<UInt8>, Int) -> Bool = { _, _ in true },
    _ decide: (Int, Span<UInt8>) throws -> Edit
  ) throws -> EditResult {
    var edits: [(position: Int, edit: Edit)] = []
    try forEach(of: transaction.snapshot, where: mayChange) { position, element in
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
      let steps = try steps(to: position - shift, downTo: 0, in: transaction.snapshot)
      let leaf = steps[steps.count - 1]
      let group = rest.prefix { $0.position - shift < leaf.end }
      let first = position - shift - leaf.start
      let changed = try leaf.run.changedItems(from: first, group, startingAt: leaf.start + shift)
      let range = (leaf.start + first)..<(leaf.start + first + changed.itemCountBefore)
      var splice = try Splice(self, range, with: changed.run, in: transaction.snapshot)
      try splice.apply(to: &transaction)
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
