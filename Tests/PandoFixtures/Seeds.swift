import Glibc

/// The seeds of a random test.
///
/// A run that is slow in itself, as with a sanitizer, tries the first ones only: the variable
/// `PANDO_TEST_SEEDS` says how many at most. For a long run, or one seed again, it says which:
/// `PANDO_TEST_SEEDS=100..<900`.
///
/// - Parameter count: How many are tried otherwise.
/// - Returns: The seeds from 0.
public func seeds(_ count: UInt64) -> Range<UInt64> {
  guard let text = getenv("PANDO_TEST_SEEDS").map({ String(cString: $0) }) else {
    return 0..<count
  }
  if let maximum = UInt64(text) { return 0..<max(1, min(count, maximum)) }
  let bounds = text.split(separator: "..<").compactMap { UInt64($0) }
  precondition(
    bounds.count == 2 && bounds[0] < bounds[1],
    "PANDO_TEST_SEEDS is \(text), and neither a count nor a range such as 100..<900")
  return bounds[0]..<bounds[1]
}
