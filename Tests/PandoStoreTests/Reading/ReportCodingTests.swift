import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoStore

/// The encoded forms of what a store tells of itself: other programs read them.
@Suite struct ReportCodingTests {
  /// The names and values of a form in the order of writing.
  typealias Fields = KeyValuePairs<String, String>

  static let ofStatistics: Fields = [
    "commitNumber": "18446744073709551615", "nodeCount": "1", "recordCounts": #"{"T":2}"#,
    "edgeCount": "3", "collectionCount": "4", "changeLogCount": "5", "fileSizeInBytes": "6",
    "usedSizeInBytes": "7", "freeSizeInBytes": "13", "mapSizeInBytes": "8", "readerCount": "9",
    "readerCountMaximum": "10", "oldestReaderAgeInSeconds": "11.5", "writerProcessID": "14",
    "formatVersion": "12",
    "storeIdentifier": #""ab""#,
  ]

  static let statistics: StoreStatistics = {
    var statistics = StoreStatistics()
    statistics.commitNumber = CommitNumber(value: .max)
    statistics.nodeCount = 1
    statistics.recordCounts = ["T": 2]
    statistics.edgeCount = 3
    statistics.collectionCount = 4
    statistics.changeLogCount = 5
    statistics.fileSizeInBytes = 6
    statistics.usedSizeInBytes = 7
    statistics.freeSizeInBytes = 13
    statistics.mapSizeInBytes = 8
    statistics.readerCount = 9
    statistics.readerCountMaximum = 10
    statistics.oldestReaderAgeInSeconds = 11.5
    statistics.writerProcessID = 14
    statistics.formatVersion = 12
    statistics.storeIdentifier = "ab"
    return statistics
  }()

  static let ofVerification: Fields = [
    "problems": #"[{"reason":"r","subject":"s"}]"#, "commitNumber": "18446744073709551615",
    "pageCount": "1", "nodeCount": "2", "recordCount": "3", "edgeCount": "4",
    "collectionCount": "5", "elementCount": "6",
  ]

  static let verification: VerificationReport = {
    var report = VerificationReport()
    report.problems = [VerificationReport.Problem(subject: "s", reason: "r")]
    report.commitNumber = CommitNumber(value: .max)
    report.pageCount = 1
    report.nodeCount = 2
    report.recordCount = 3
    report.edgeCount = 4
    report.collectionCount = 5
    report.elementCount = 6
    return report
  }()

  @Test func `statistics have their form`() throws {
    let optional: Set = ["oldestReaderAgeInSeconds", "writerProcessID"]
    try expect(Self.statistics, Self.ofStatistics, optional: optional)
    var statistics = Self.statistics
    statistics.oldestReaderAgeInSeconds = nil
    statistics.writerProcessID = nil
    let names = Self.ofStatistics.map(\.key).filter { !optional.contains($0) }
    #expect(try writtenNames(of: statistics) == names)
    let json = json(Self.ofStatistics, without: optional)
    #expect(try sortedJSON(statistics) == json)
    #expect(try fromJSON(StoreStatistics.self, json) == statistics)
  }

  @Test func `the report of a verification has its form`() throws {
    try expect(Self.verification, Self.ofVerification)
    let problem = VerificationReport.Problem(subject: "s", reason: "r")
    try expect(problem, ["subject": #""s""#, "reason": #""r""#])
  }

  private func json(_ fields: Fields, without names: Set<String> = []) -> String {
    let fields = fields.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
    return "{" + fields.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
  }

  private func expect<Value: Codable & Equatable>(
    _ value: Value, _ fields: Fields, optional: Set<String> = []
  ) throws {
    #expect(try sortedJSON(value) == json(fields))
    #expect(try fromJSON(Value.self, json(fields)) == value)
    #expect(try writtenNames(of: value) == fields.map(\.key))
    for name in fields.map(\.key) where !optional.contains(name) {
      let error = try #require(throws: DecodingError.self) {
        try fromJSON(Value.self, json(fields, without: [name]))
      }
      guard case .keyNotFound(let key, _) = error else {
        return #expect(Bool(false), "\(error)")
      }
      #expect(key.stringValue == name)
    }
  }
}
