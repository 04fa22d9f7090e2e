extension RecordBody {
  /// Checks that bytes are a record body as the encoder writes it, in every detail.
  ///
  /// So two bodies with the same content have the same bytes: lengths and numbers in their shortest
  /// form, keys in order and each once, texts that are UTF-8, and the tags for slots and references
  /// where they belong and nowhere else. The order of the elements of a set is not checked, because
  /// a body does not tell a set from an array.
  ///
  /// - Parameter body: The bytes to check; read during the call only.
  /// - Throws: ``ModelError`` that says what is wrong and at which byte.
  /// - Complexity: O(*n*) for *n* bytes.
  package static func validate(_ body: UnsafeRawBufferPointer) throws(ModelError) {
    // Read during the call only.
    var validator = RecordValidator(unsafe RecordCursor(body))
    try RecordFault.asModelError { () throws(RecordFault) in try validator.check() }
  }
}
