import Pando

extension SampleData {
  /// How many issues are one transaction: enough that its flush costs little, and few enough that others
  /// get their turn.
  static let batchCount = 1_000

  /// Writes the data into a store.
  ///
  /// - Parameters:
  ///   - store: The store; its models of the same identifiers are replaced.
  ///   - progress: Called with the number of written issues, after each transaction.
  /// - Throws: The error of the store.
  func make(in store: ModelStore, progress: (Int) -> Void = { _ in }) throws {
    try store.write { transaction in
      for number in 1...userCount { try transaction.set(user(number)) }
      for number in 1...labelCount { try transaction.set(label(number)) }
      for number in 1...projectCount { try transaction.set(project(number)) }
      for number in 1...columnCount { try transaction.set(column(number)) }
      try transaction.set(Numbers(issue: issueCount, comment: issueCount * 4, user: userCount))
    }
    for first in stride(from: 1, through: issueCount, by: Self.batchCount) {
      let numbers = first...min(first + Self.batchCount - 1, issueCount)
      try store.write { transaction in
        for number in numbers {
          try transaction.set(issue(number))
          try transaction.set(
            Discussion(id: number, comments: comments(onIssue: number)))
        }
      }
      progress(numbers.upperBound)
    }
    try store.write { transaction in
      for number in 1...columnCount {
        try transaction.setCollection(column(number).cacheKey, to: cards(ofColumn: number))
      }
    }
  }
}
