extension RecordBody {
  /// Takes deleted children out of a body.
  ///
  /// An optional slot becomes null, an array or a dictionary loses the element, an object that
  /// loses a required slot is lost itself, and so on outward: to the next optional slot, array or
  /// dictionary around it, or to the body.
  ///
  /// - Parameters:
  ///   - children: The numbers of the nodes that are deleted.
  ///   - body: A record body; read during the call only.
  /// - Returns: What becomes of the record.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n* log *n*) for *n* bytes.
  /// - Note: The elements of a set stay in the order of their bytes before the loss.
  package static func losing(
    children: Set<UInt64>, in body: UnsafeRawBufferPointer
  ) throws(ModelError) -> RecordLoss {
    let edges = unsafe try edges(in: body)
    guard edges.contains(where: { children.contains($0.child.node) }) else { return .unchanged }
    // Read during the call only.
    var pruner = RecordPruner(unsafe RecordCursor(body), children: children)
    return try RecordFault.asModelError { () throws(RecordFault) in try pruner.prune() }
  }
}
