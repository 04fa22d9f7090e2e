extension RecordBody {
  /// Lets the fields of one body flow into another.
  ///
  /// A field flows as a whole. Where it holds children, the node comes from the new body, and the
  /// kind of the slot from the old one, wherever the old one says it; see ``RecordMerge/Policy``
  /// for the rest.
  ///
  /// - Parameters:
  ///   - new: The body that has the newer values; read during the call only.
  ///   - old: The body they flow into; read during the call only.
  ///   - policy: Which fields flow.
  ///   - names: Fields of the old body that are left alone.
  /// - Returns: The merged body, and what has changed in it.
  /// - Throws: ``ModelError`` when the bytes are no record bodies.
  /// - Complexity: O(*n*) for *n* bytes in both.
  /// - Note: The elements of a set stay in the order of their bytes in the new body.
  package static func merging(
    _ new: UnsafeRawBufferPointer, into old: UnsafeRawBufferPointer,
    policy: RecordMerge.Policy = .projection, leaving names: Set<String> = []
  ) throws(ModelError) -> RecordMerge {
    // Both are read during the call only.
    var merger = unsafe RecordMerger(
      old: RecordCursor(old), new: RecordCursor(new), policy: policy)
    return try RecordFault.asModelError { () throws(RecordFault) in
      try merger.merge(leaving: names)
    }
  }
}
