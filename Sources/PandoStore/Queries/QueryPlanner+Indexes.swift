import PandoModels

/// The part of a filter that an index covers.
struct IndexUse {
  var ranges: [IndexRange]
  /// The bytes of the first fields, as far as each has only one value.
  var pinned: [UInt8] = []
  var pinnedCount = 0
  /// The number of fields that the ranges cover.
  var fieldCount = 1
  /// Whether the ranges cover the whole filter.
  var isExact = false
  /// The covered parts of the filter, one bit each.
  var decided: UInt64 = 0

  /// Whether the ranges select only one element, so that each record occurs once.
  func isPinnedToElement(of index: StoredIndex) -> Bool {
    if index.fields.count == 1 { return ranges.count == 1 && ranges[0].isOneValue }
    return index.fields.prefix(pinnedCount).contains(where: \.hasElements)
  }
}

extension QueryPlanner {
  /// The rows in the order of the query, if an index has it.
  func orderedRows(
    _ alternatives: [QueryCandidates], _ order: [RecordOrder], amongComposite: Bool = false
  ) -> OrderedRows? {
    guard query.uniqueBy.isEmpty, !order.isEmpty else { return nil }
    var best: OrderedRows?
    for index in indexes {
      if index.fields.count == 1 {
        // Most indexes are unrelated to the order.
        guard !amongComposite, case .field(.named(index.fields[0]), _) = order[0] else { continue }
      }
      guard let rows = orderedRows(of: index, alternatives, order) else { continue }
      if best.map({ rows.isBetter(than: $0) }) ?? true { best = rows }
    }
    return best
  }

  /// The rows of an index that has all fields and decides the filter; `nil` if there is none.
  func coveringRows(
    _ paths: [FieldPath], _ alternatives: [QueryCandidates]
  ) -> CoveringRows? {
    var best: CoveringRows?
    for index in indexes {
      let positions = paths.compactMap { index.fields.firstIndex(of: $0) }
      guard positions.count == paths.count else { continue }
      // Each row of a record is one combination of its elements, so that there may be one list, and a condition
      // for elements would leave others of the record out.
      let lists = index.fields.filter(\.hasElements)
      guard lists.allSatisfy({ paths.contains($0) }), lists.count < 2,
        !lists.contains(where: { list in query.filter.fields.contains { $0.path == list } })
      else { continue }
      let use = use(of: index, alternatives)
      guard use.isExact else { continue }
      let rows = CoveringRows(index, use.ranges, positions)
      if best.map({ index.fields.count < $0.index.fields.count }) ?? true { best = rows }
    }
    return best
  }

  private func orderedRows(
    of index: StoredIndex, _ alternatives: [QueryCandidates], _ order: [RecordOrder]
  ) -> OrderedRows? {
    var use = use(of: index, alternatives)
    if use.fieldCount > use.pinnedCount + 1 {
      // Ranges of the order's first field are not interrupted by those of later fields.
      use = self.use(of: index, for: parts, fieldLimit: use.pinnedCount + 1)
    }
    if index.hasElements, !use.isPinnedToElement(of: index) { return nil }
    // A field with one value in all rows does not affect the order.
    let pinned = index.fields.prefix(use.pinnedCount)
    let keys = order.indices.filter { key in
      guard case .field(.named(let path), _) = order[key] else { return true }
      return !pinned.contains(path)
    }
    guard isAfterPlace(in: index, use, order) else { return nil }
    let rest = Array(index.fields.dropFirst(use.pinnedCount))
    guard let first = keys.first else { return nil }
    let isDescending = order[first].isDescending
    var count = 0
    while count < min(keys.count, rest.count),
      case .field(.named(let path), isDescending) = order[keys[count]], path == rest[count]
    {
      count += 1
    }
    guard count > 0 else { return nil }
    return OrderedRows(
      index, use, keys: keys, isDescending: isDescending,
      isComplete: count == keys.count && count == rest.count)
  }

  /// Whether the place before the window has the one value of each key that is the same in all rows.
  ///
  /// Otherwise it does not lie between these rows: it is that of a record that does not match.
  private func isAfterPlace(
    in index: StoredIndex, _ use: IndexUse, _ order: [RecordOrder]
  ) -> Bool {
    guard let after = query.after else { return true }
    var start = 0
    for field in index.fields.prefix(use.pinnedCount) {
      let end = IndexValue.end(ofValueIn: use.pinned.span, from: start).place
      for (key, value) in zip(order, after.values) {
        guard case .field(.named(field), _) = key else { continue }
        var bytes = IndexValue()
        bytes.append(value, index.contentByteCountMaximum)
        if !bytes.bytes.elementsEqual(use.pinned[start..<end]) { return false }
      }
      start = end
    }
    return true
  }

  /// All parts of the filter, one bit each.
  var allParts: UInt64 { parts.count < 64 ? 1 << UInt64(parts.count) - 1 : .max }

  /// The parts of the filter that hold for all of the candidates.
  func decided(by candidates: QueryCandidates, _ alternatives: [QueryCandidates]) -> UInt64 {
    if case .words(let index, let search) = candidates {
      guard search.needsWordsOnly else { return 0 }
      return parts.enumerated().reduce(0) { decided, part in
        guard part.offset < 64, case .search(let fields, search) = part.element,
          index.hasWords(of: fields)
        else { return decided }
        return decided | 1 << UInt64(part.offset)
      }
    }
    guard case .rows(let index, let ranges) = candidates else { return 0 }
    let use = use(of: index, alternatives)
    return use.ranges == ranges ? use.decided : 0
  }

  /// The part of the filter that an index covers.
  func use(of index: StoredIndex, _ alternatives: [QueryCandidates]) -> IndexUse {
    if index.fields.count > 1 { return use(of: index, for: parts) }
    var use = IndexUse(ranges: [.everything])
    for case .rows(index, let ranges) in alternatives {
      use.ranges = ranges
      if index.hasElements { break }
    }
    for (place, part) in parts.enumerated() where place < 64 && isExact(part, index) {
      use.decided |= 1 << UInt64(place)
      // Another condition may hold for another element.
      if index.hasElements { break }
    }
    use.isExact = use.decided == allParts
    return use
  }

  /// The part of a conjunction that an index of several fields covers: equality of the first
  /// fields, then a range of the next one.
  private func use(
    of index: StoredIndex, for parts: [FilterTree<RecordField>], fieldLimit: Int = .max
  ) -> IndexUse {
    var use = IndexUse(ranges: [.everything], fieldCount: 0)
    var starts: [[UInt8]] = [[]]
    var isOpen = true
    for field in index.fields.prefix(fieldLimit) where isOpen {
      var ranges: [IndexRange]?
      for (place, part) in parts.enumerated() {
        guard let found = Self.ranges(part, field, index.contentByteCountMaximum) else { continue }
        ranges = ranges.map { IndexRange.intersection($0, found.ranges) } ?? found.ranges
        if found.isExact, place < 64 { use.decided |= 1 << UInt64(place) }
        // Another condition may hold for another element.
        if field.hasElements { break }
      }
      guard let ranges else { break }
      use.fieldCount += 1
      if ranges.count == 1, starts.count == 1 {
        use.ranges = [ranges[0].after(starts[0])]
        isOpen = ranges[0].isOneValue
        guard isOpen else { break }
        starts[0] += ranges[0].lower
        use.pinned = starts[0]
        use.pinnedCount = use.fieldCount
        continue
      }
      use.ranges = starts.flatMap { start in ranges.map { $0.after(start) } }
      isOpen =
        ranges.allSatisfy(\.isOneValue) && starts.count * ranges.count <= Self.productMaximum
      guard isOpen else { break }
      starts = starts.flatMap { start in ranges.map { start + $0.lower } }
      if starts.count == 1 {
        use.pinned = starts[0]
        use.pinnedCount = use.fieldCount
      }
    }
    use.isExact = use.decided == allParts
    return use
  }

  /// The ranges of a field's values in which a condition may hold, and whether it holds for all of
  /// them; `nil` if it does not concern the field alone.
  private static func ranges(
    _ part: FilterTree<RecordField>, _ field: FieldPath, _ limit: Int
  ) -> (ranges: [IndexRange], isExact: Bool)? {
    switch part {
    case .compare(.named(field), let comparison, let value),
      .compare(.child(field), let comparison, let value):
      return IndexRange(comparison, value, limit)
        .map { (IndexRange.union([$0]), !IndexValue.cutsOff(value, limit)) }
    case .isIn(.named(field), let values), .isIn(.child(field), let values):
      return (
        IndexRange.union(values.values.map { IndexRange(values: IndexValue($0, limit).bytes) }),
        !values.values.contains { IndexValue.cutsOff($0, limit) }
      )
    case .prefix(.named(field), let prefix):
      return (
        [IndexRange(prefix: IndexValue.start(ofTextsWithPrefix: prefix, limit))],
        !IndexValue.cutsOff(.string(prefix), limit)
      )
    case .or(let parts):
      var all: [IndexRange] = []
      var isExact = true
      for part in parts {
        guard let found = ranges(part, field, limit) else { return nil }
        all += found.ranges
        isExact = isExact && found.isExact
      }
      return (IndexRange.union(all), isExact)
    default: return nil
    }
  }

  private func isExact(_ filter: FilterTree<RecordField>, _ index: StoredIndex) -> Bool {
    guard index.fields.count == 1 else { return false }
    let path = index.fields[0]
    switch filter {
    case .all, .not, .pattern, .part: return false
    case .compare(.named(path), let comparison, let value),
      .compare(.child(path), let comparison, let value):
      return comparison != .notEqual && !IndexValue.cutsOff(value)
    case .isIn(.named(path), let values), .isIn(.child(path), let values):
      return !values.values.contains { IndexValue.cutsOff($0) }
    case .prefix(.named(path), let prefix): return !IndexValue.cutsOff(.string(prefix))
    case .or(let parts): return parts.allSatisfy { isExact($0, index) }
    case .and(let parts): return !index.hasElements && parts.allSatisfy { isExact($0, index) }
    default: return false
    }
  }

  func index(of path: FieldPath) -> StoredIndex? {
    indexes.first { $0.fields.count == 1 && $0.fields[0] == path }
  }

  /// Ranges of indexes of several fields for a conjunction.
  func compositeRows(_ parts: [FilterTree<RecordField>]) -> [QueryCandidates] {
    indexes.compactMap { index in
      guard index.fields.count > 1 else { return nil }
      // A single condition concerns one field.
      if parts.count == 1, self.index(of: index.fields[0]) != nil { return nil }
      let use = use(of: index, for: parts)
      // A record with an empty list has no row.
      if index.fields.dropFirst(use.fieldCount).contains(where: \.hasElements) { return nil }
      // For the first field alone, its own index is as good.
      let isWorth =
        use.fieldCount > 1 || use.fieldCount == 1 && self.index(of: index.fields[0]) == nil
      return isWorth ? .rows(index, use.ranges) : nil
    }
  }
}
