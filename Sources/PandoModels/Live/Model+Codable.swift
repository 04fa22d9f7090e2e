/// The first way to say what the children are: nothing at all.
///
/// A model all of whose stored properties are plain values, or lists, sets and maps of such, is not
/// encoded: it has no place for a child.
extension Model where Self: Codable {
  /// Returns a copy with every child that the coding meets replaced.
  ///
  /// A model whose own coding throws is returned as it is.
  ///
  /// - Parameter transform: Returns what replaces a child; `nil` to remove it. A model of another type
  ///   replaces nothing.
  /// - Returns: `nil` if a required child was removed.
  public func map(_ transform: (any Model) -> (any Model)?) -> Self? {
    if ChildPlaces.areMissing(in: self) { return self }
    do {
      return try LiveCoder.map(self, transform)
    } catch {
      return self
    }
  }

  /// Calls a closure with every child that the coding meets.
  ///
  /// - Parameter visit: Called once for each place of a child.
  public func forEach(_ visit: (any Model) -> Void) {
    if ChildPlaces.areMissing(in: self) { return }
    try? LiveCoder.forEach(self, visit)
  }
}

extension Model {
  /// Takes the data of a newer model: all of it from the same type, by field from another.
  ///
  /// Merging by field needs both to be `Codable`; without that this model stays as it is.
  ///
  /// - Parameter other: The newer model, of any type.
  /// - Returns: A model of this type.
  public func merge(_ other: any Model) -> any Model {
    if type(of: other) == type(of: self) { return other }
    let merged = ModelChildren.merge(other, into: self)
    if let watch = MergeWatch.current {
      let isPossible = ModelChildren.canMerge(other, into: self)
      if !isPossible || !merged.kept.isEmpty { watch.note(self, other, kept: merged.kept) }
    }
    return merged.model
  }
}

extension SimpleModel where Self: Encodable {
  /// Compares by coding: two models are equal if they would be stored as the same bytes.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type, or one of them can't be encoded.
  public func isEqual(to other: any SimpleModel) -> Bool {
    guard let other = other as? Self else { return false }
    guard let bytes = try? RecordEncoder.encodeValue(self).body,
      let others = try? RecordEncoder.encodeValue(other).body
    else { return false }
    return bytes == others
  }
}

extension SimpleModel where Self: Encodable & Equatable {
  /// Compares by `==`.
  ///
  /// - Parameter other: A model of any type.
  /// - Returns: `false` if it has another type.
  @inlinable
  public func isEqual(to other: any SimpleModel) -> Bool { isSame(as: other) }
}
