import Glibc

/// The seeds of a random test.
///
/// A run that is slow in itself, as with a sanitizer, tries the first ones only: the variable
/// `PANDO_TEST_SEEDS` says how many at most.
///
/// - Parameter count: How many are tried otherwise.
/// - Returns: The seeds from 0.
public func seeds(_ count: UInt64) -> Range<UInt64> {
  guard let text = getenv("PANDO_TEST_SEEDS"), let maximum = UInt64(String(cString: text)) else {
    return 0..<count
  }
  return 0..<max(1, min(count, maximum))
}
