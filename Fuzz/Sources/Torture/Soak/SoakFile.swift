import Pando

/// How large the store's file is, and how large it may be.
///
/// Each commit writes pages anew, and those that it replaces are used again as soon as no reader shows
/// a version that needs them. So the file holds what is stored, and what the commits replace
/// that are made while a reader stands: `verify`, or a reader that has died, whose slot a writer clears
/// within a second. The bytes of a commit, and the number of commits in such a time, are measured, as both depend on
/// the machine; with that the bound does not depend on how long the run is.
struct SoakFile {
  /// The pages that one flush with several commits needs before it frees any.
  private static let flushSlack = 1 << 20
  /// Pages that are free may lie apart, where a long value needs them side by side.
  private static let scattering = 1.25
  /// How often a writer looks for the dead.
  private static let clearing: Duration = .seconds(1)

  private(set) var sizeMax = 0
  private var usedMax = 0
  private var samples: [(time: ContinuousClock.Instant, commits: Int)] = []
  private var readMax = 0
  private var visitMax: Duration = .zero

  mutating func note(_ statistics: StoreStatistics) {
    sizeMax = max(sizeMax, statistics.fileSizeInBytes)
    usedMax = max(usedMax, statistics.usedSizeInBytes)
    samples.append((.now, Int(statistics.commitNumber.value)))
  }

  /// A reader stood while so many commits were made.
  mutating func noteRead(commits: Int) { readMax = max(readMax, commits) }

  /// A reader that has died lived for so long.
  mutating func noteVisit(_ duration: Duration) { visitMax = max(visitMax, duration) }

  /// Throws if the file is larger than what was done explains.
  ///
  /// - Returns: How large it may be.
  func check(bytesPerCommit: Int) throws -> Int {
    let span = visitMax + Self.clearing
    var window = readMax
    var first = 0
    for (index, sample) in samples.enumerated() {
      while sample.time - samples[first].time > span { first += 1 }
      // The sample before: what lies between two is not known.
      let start = samples[max(0, first - 1)]
      window = max(window, samples[index].commits - start.commits)
    }
    let explained = Double(usedMax + window * bytesPerCommit)
    let limit = Self.flushSlack + Int(Self.scattering * explained)
    try require(
      sizeMax <= limit,
      "the file has \(sizeMax) bytes; \(usedMax) in use and \(window) commits of \(bytesPerCommit) bytes explain \(limit)"
    )
    return limit
  }
}
