/// How long calls wait for a log.
package enum LogDeadline {
  /// The time at which calls inside the closure fail, in nanoseconds of the monotonic clock; `nil` for the log's own
  /// limit.
  ///
  /// An append that was sent fails after half of the time, so that it can be sent again. A log without support for
  /// deadlines waits as long as it always does.
  @TaskLocal package static var nanoseconds: Int64?
}
