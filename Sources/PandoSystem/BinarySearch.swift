extension Collection {
  /// Returns the first index whose element belongs to the second part of a partitioned collection.
  ///
  /// Public for inlining, as ``Locked``.
  ///
  /// - Parameter belongsInSecondPartition: `false` for all elements of the first part, then `true` for all others.
  /// - Returns: The index; `endIndex` if the second part is empty.
  /// - Throws: The error of the closure.
  /// - Complexity: O(log *n*) for a random-access collection.
  @inlinable
  public func partitioningIndex<Failure: Error>(
    where belongsInSecondPartition: (Element) throws(Failure) -> Bool
  ) throws(Failure) -> Index {
    var low = startIndex
    var rest = count
    while rest > 0 {
      let half = rest / 2
      let middle = index(low, offsetBy: half)
      if try belongsInSecondPartition(self[middle]) {
        rest = half
      } else {
        low = index(after: middle)
        rest -= half + 1
      }
    }
    return low
  }

  /// Returns the index of the element with a key, in a collection in ascending order of the keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - makeKey: Returns the key of an element.
  /// - Returns: The first such index; `nil` if no element has the key.
  /// - Complexity: O(log *n*) for a random-access collection.
  @inlinable
  public func binarySearch<Key: Comparable>(
    for key: Key, by makeKey: (Element) -> Key
  ) -> Index? {
    let index = partitioningIndex { makeKey($0) >= key }
    return index < endIndex && makeKey(self[index]) == key ? index : nil
  }
}
