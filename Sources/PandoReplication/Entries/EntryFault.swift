/// Why bytes are no message of a log.
package enum EntryFault: Error, Equatable {
  /// The bytes are malformed.
  ///
  /// Every replica finds the same, and applies nothing of the message.
  case malformed(String)
  /// The message has a newer version.
  case newer(UInt8)
}
