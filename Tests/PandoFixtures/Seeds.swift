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

/// Some of the cases of a test that takes long: all in a run for which `PANDO_TEST_SEEDS` says which seeds.
///
/// - Parameters:
///   - all: All cases.
///   - count: How many are tried otherwise, with equal distances.
/// - Returns: The cases.
public func sample<Value>(_ all: some Collection<Value>, _ count: Int) -> [Value] {
  let all = Array(all)
  if seeds(1).upperBound > 1 || all.count <= count { return all }
  return (0..<count).map { all[$0 * all.count / count] }
}

/// The number of steps of a random test that takes long: all in a run for which `PANDO_TEST_SEEDS` says which seeds,
/// half of them otherwise.
///
/// - Parameter count: The number of all steps.
/// - Returns: The number of steps to make.
public func steps(_ count: Int) -> Int { seeds(1).upperBound > 1 ? count : count / 2 }

/// Each value of one list with each of another, so that neighbours differ in both.
public func pairs<First, Second>(_ first: [First], _ second: [Second]) -> [(First, Second)] {
  second.indices.flatMap { shift in
    first.indices.map { (first[$0], second[($0 + shift) % second.count]) }
  }
}
