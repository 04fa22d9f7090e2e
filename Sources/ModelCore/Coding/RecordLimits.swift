/// Limits of the record coder.
package enum RecordLimits {
  /// How deep models, values, lists and maps may be nested in one tree.
  ///
  /// Coding a tree recurses, about 2 KiB of stack for each level and 4 KiB in a debug build with the
  /// address sanitizer, and models add their own frames; the smallest threads have 512 KiB.
  package static let maximumNestingDepth = 100
}
