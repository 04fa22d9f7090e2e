/// Limits of the record coder.
package enum RecordLimits {
  /// How deep models, values, lists and maps may be nested in one tree.
  ///
  /// Coding a tree recurses. A debug build with the address sanitizer needs about 6 KiB of stack for
  /// each level (a release build a tenth of it) and models add their own frames, so a thread of
  /// 1 MiB is enough; threads on Linux have 8 MiB unless asked otherwise.
  package static let maximumNestingDepth = 128
}
