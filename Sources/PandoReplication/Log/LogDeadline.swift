/// How long calls wait for a log.
package enum LogDeadline {
  /// When calls that are made inside have to give up, in nanoseconds of the machine that never go back; `nil` for
  /// what the log waits by itself.
  ///
  /// An append that was sent gives up halfway, so that it can be sent again. A log that does not know of it waits
  /// as long as it always does.
  @TaskLocal package static var nanoseconds: Int64?
}
