/// Why bytes are no message of a log.
package enum EntryFault: Error, Equatable {
  /// They are malformed: every replica says so, and takes nothing of them.
  case malformed(String)
  /// They are of a newer version.
  case newer(UInt8)
}
