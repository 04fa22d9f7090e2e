/// A visit to the rows of an index; all properties are constant after `init`.
struct IndexVisit {
  let index: StoredIndex
  let isDescending: Bool
  /// Whether all rows match.
  let isExact: Bool
  let ranges: [IndexRange]
  /// How many fields the rows of a group share; `nil` for all of them.
  let groupFieldCount: Int?
  /// The group of the row before the window.
  private(set) var afterBytes: [UInt8]?
  private let contentByteCountMaximum: Int

  init(
    _ rows: OrderedRows, _ ranges: [IndexRange], _ query: RecordQuery, _ comparesValues: Bool
  ) {
    index = rows.index
    contentByteCountMaximum = rows.index.contentByteCountMaximum
    isDescending = rows.isDescending
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
    let rest =
      isDescending
      ? IndexRange(lower: [], upper: IndexRange.end(ofValues: bytes))
      : IndexRange(lower: bytes, upper: nil)
    self.ranges = IndexRange.intersection(ranges, [rest])
    afterBytes = comparesValues ? nil : bytes
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
