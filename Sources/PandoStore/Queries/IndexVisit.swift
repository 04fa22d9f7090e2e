/// A visit to the rows of an index; all properties are constant after `init`.
struct IndexVisit {
  let index: StoredIndex
  let isDescending: Bool
  /// Whether all rows match.
  let isExact: Bool
  let ranges: [IndexRange]
  /// How many fields the rows of a group share; `nil` for all of them.
  let groupFieldCount: Int?
  /// The rows with the values of the place before the window, behind it; `nil` without a place, and if ``ranges``
  /// has them.
  private(set) var restOfGroup: IndexRange?
  /// Whether a value of that place was cut off, so that rows with it are not in order.
  private(set) var isPlaceCutOff = false
  private let contentByteCountMaximum: Int

  init(
    _ rows: OrderedRows, _ ranges: [IndexRange], _ query: RecordQuery, _ comparesValues: Bool
  ) {
    index = rows.index
    contentByteCountMaximum = rows.index.contentByteCountMaximum
    isDescending = rows.isDescending != query.isReversed
    isExact = rows.isExact
    groupFieldCount =
      comparesValues && rows.pinnedCount + 1 < index.fields.count ? rows.pinnedCount + 1 : nil
    guard let after = query.after else {
      self.ranges = ranges
      return
    }
    var place = IndexValue()
    for key in comparesValues ? rows.keys.prefix(1)[...] : rows.keys[...] {
      place.append(after.values[key], index.contentByteCountMaximum)
    }
    let bytes = rows.pinned + place.bytes
    let end = IndexRange.end(ofValues: bytes)
    if comparesValues {
      let rest =
        isDescending ? IndexRange(lower: [], upper: end) : IndexRange(lower: bytes, upper: nil)
      self.ranges = IndexRange.intersection(ranges, [rest])
      return
    }
    isPlaceCutOff = place.isCutOff
    let rest =
      isDescending ? IndexRange(lower: [], upper: bytes) : IndexRange(lower: end, upper: nil)
    self.ranges = IndexRange.intersection(ranges, [rest])
    let row = StoredIndex.row(bytes, node: query.isReversed ? after.node : after.node + 1)
    let group =
      query.isReversed
      ? IndexRange(lower: bytes, upper: row) : IndexRange(lower: row, upper: end)
    // The place may be that of a record that the filter excludes.
    restOfGroup = IndexRange.intersection(ranges, [group]).first
  }

  /// Whether a value in a row was cut off.
  func isCutOff(_ row: Span<UInt8>) -> Bool { IndexValue.isCutOff(row, contentByteCountMaximum) }

  /// The part of a row's key that its group shares.
  @_lifetime(copy key)
  func group(ofRow key: Span<UInt8>) -> Span<UInt8> {
    let value = StoredIndex.value(ofRow: key)
    guard let groupFieldCount else { return value }
    var end = 0
    for _ in 0..<groupFieldCount { end = IndexValue.end(ofValueIn: value, from: end).place }
    return value.extracting(0..<min(end, value.count))
  }
}

/// Thrown because rows with cut-off values are not in value order.
struct CutOffValue: Error {}
