/// The results of the states of a run.
struct CutTally {
  /// Everything that is counted, by the name under which it is printed.
  private(set) var counts: [String: Int] = [:]
  /// The most commits that one cut took although they had been reported.
  var lostMaximum = 0

  subscript(name: String) -> Int {
    get { counts[name] ?? 0 }
    set { counts[name] = newValue }
  }

  /// One line that another process reads.
  var line: String {
    "tally lost-maximum=\(lostMaximum) "
      + counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  /// Adds what another process has counted.
  mutating func add(line: String) {
    for field in line.split(separator: " ").dropFirst() {
      let parts = field.split(separator: "=")
      guard parts.count == 2, let count = Int(parts[1]) else { continue }
      if parts[0] == "lost-maximum" {
        lostMaximum = max(lostMaximum, count)
      } else {
        self[String(parts[0])] += count
      }
    }
  }

  mutating func add(_ other: CutTally) { add(line: other.line) }
}
