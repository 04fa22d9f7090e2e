/// Limits of the record coder.
package enum RecordLimits {
  /// How deep models, values, lists and maps may be nested in one tree.
  ///
  /// Coding a tree recurses. A debug build with the address sanitizer needs about 6 KiB of stack for
  /// each level (a release build a tenth of it), models add their own frames, and the smallest threads
  /// have 512 KiB.
  package static let maximumNestingDepth = 64
}
