import PandoFixtures
import PandoModels
import Testing

/// Integers beyond 64 bits as identities and fields.
@Suite struct WideNumberTests {
  private static let cities = """
    {"id":123456789012345678901234567890,"n":99999999999999999999999999999999999999}
    {"id":123456789012345678901234567891,"n":99999999999999999999999999999999999998}
    {"id":-9223372036854775809,"n":-99999999999999999999999999999999999999}
    {"id":18446744073709551616,"n":2e38}
    {"id":7,"n":18446744073709551615}
    {"id":8,"n":null}
    """

  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "City:id", "--map", "next=City:id",
        input: Self.cities)
      try body(store)
    }
  }

  @Test func `an integer beyond 64 bits identifies a node`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.output("ls", store)
          == "City:-9223372036854775809\nCity:123456789012345678901234567890\n"
          + "City:123456789012345678901234567891\nCity:18446744073709551616\nCity:7\nCity:8\n")
      let name = "City:123456789012345678901234567890"
      let text = try PandoProcess.output("get", store, name, "--compact")
      #expect(
        text
          == #"{"id":123456789012345678901234567890,"n":99999999999999999999999999999999999999}"#
          + "\n")
      #expect(try PandoProcess.output("set", store, name, "-", input: text) == "")
      #expect(
        try PandoProcess.failure(3, "set", store, "City:1", text).contains(
          "“id” is 123456789012345678901234567890, which says otherwise"))
      try PandoProcess.output(
        "import", store, "-",
        input: #"{"id":9,"next":{"id":123456789012345678901234567890,"n":1}}"#)
      #expect(try PandoProcess.output("parents", store, name) == "City:9\n")
      #expect(
        try PandoProcess.failure(
          3, "import", store, "-", input: #"{"id":123456789012345678901234567890123456789}"#
        )
        .contains("an integer of 39 digits cannot be kept exactly; 38 is the limit"))
    }
  }

  @Test(arguments: [[], ["n"], ["n", "id"]])
  func `a field beyond 64 bits is found and ordered by its exact value`(index: [String]) throws {
    try withStore { store throws in
      if !index.isEmpty {
        let outcome = try PandoProcess.run(["index", store, "add", "City"] + index)
        #expect(outcome.status == 0)
      }
      for (filter, expected) in [
        ("n == 99999999999999999999999999999999999998", "123456789012345678901234567891"),
        (
          "n > 99999999999999999999999999999999999998",
          "123456789012345678901234567890 18446744073709551616"
        ),
        ("n > 99999999999999999999999999999999999999", "18446744073709551616"),
        ("n >= 2e38", "18446744073709551616"),
        ("n < 0", "-9223372036854775809"),
        ("n < -99999999999999999999999999999999999998", "-9223372036854775809"),
        ("n < -99999999999999999999999999999999999999", ""),
        (
          "n >> [18446744073709551615, 99999999999999999999999999999999999999]",
          "123456789012345678901234567890 7"
        ),
        ("id == 123456789012345678901234567890", "123456789012345678901234567890"),
        ("id == 123456789012345678901234567890.0", ""),
        ("id == 18446744073709551616.0", "18446744073709551616"),
        ("id < -9223372036854775808", "-9223372036854775809"),
      ] {
        let found = try PandoProcess.output("query", store, "City", filter)
        #expect(
          found.split(separator: "\n").map { $0.dropFirst(5) }.sorted().joined(separator: " ")
            == expected, "\(filter)")
      }
      #expect(
        try PandoProcess.output("query", store, "City", "all", "--order", "n:desc")
          == "City:18446744073709551616\nCity:123456789012345678901234567890\n"
          + "City:123456789012345678901234567891\nCity:7\nCity:-9223372036854775809\nCity:8\n")
      #expect(
        try PandoProcess.output("query", store, "City", "all", "--order", "id", "--limit", "3")
          == "City:-9223372036854775809\nCity:7\nCity:8\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
      try PandoProcess.output(
        "set", store, "City:7", #"{"id":7,"n":100000000000000000001}"#)
      try PandoProcess.output("delete", store, "City:123456789012345678901234567890")
      #expect(
        try PandoProcess.output("query", store, "City", "n == 100000000000000000001")
          == "City:7\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
    }
  }

  @Test func `a unique index tells integers beyond 64 bits apart`() throws {
    try withStore { store throws in
      try PandoProcess.output("index", store, "add", "City", "n", "--unique")
      #expect(
        try PandoProcess.failure(
          3, "set", store, "City:1", #"{"id":1,"n":99999999999999999999999999999999999999}"#
        ).contains("and 99999999999999999999999999999999999999 is that of City:"))
    }
  }

  /// Decimal numbers as records of Swift types have them, and the floats of JSON.
  private static let prices = [
    #"{"n":{"$tagged":[4,[-2,999]]}}"#, #"{"n":9.99}"#, #"{"n":{"$tagged":[4,[-2,1000]]}}"#,
    // 9.99 and 10⁻³⁰
    #"{"n":{"$tagged":[4,[-30,{"$tagged":[2,{"$bytes":"fhduUcSCbEjFcAAAAQ=="}]}]]}}"#,
    #"{"n":{"$tagged":[4,[-1,-5]]}}"#,
  ]

  @Test(arguments: [false, true])
  func `a number with a fraction finds decimal numbers and floats of its digits`(hasIndex: Bool)
    throws
  {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      for (number, price) in Self.prices.enumerated() {
        try PandoProcess.output(
          "set", store, "Item:\(number + 1)", price, "--lossless", "--type", "Item")
      }
      #expect(
        try PandoProcess.output("get", store, "Item:4", "--compact")
          == #"{"n":9.990000000000000000000000000001}"# + "\n")
      if hasIndex { try PandoProcess.output("index", store, "add", "Item", "n") }
      for (filter, expected) in [
        ("n == 9.99", "1 2"), ("n != 9.99", "3 4 5"), ("n < 9.99", "5"), ("n <= 9.99", "1 2 5"),
      ] {
        let found = try PandoProcess.output("query", store, "Item", filter)
        #expect(
          found.split(separator: "\n").map { $0.dropFirst(5) }.sorted().joined(separator: " ")
            == expected, "\(filter)")
      }
    }
  }

  @Test(arguments: [
    (
      "n == 123456789012345678901234567890123456789012",
      "“123456789012345678901234567890123456789012” has 42 digits; an integer has 38 at most"
    ),
    ("n == -1e-400", "“-1e-400” is nearer to 0 than a double can hold"),
  ])
  func `a number that can't be compared exactly is refused`(filter: String, reason: String) throws {
    #expect(
      try PandoProcess.failure(2, "query", "absent", "City", filter)
        == "pando query: FILTER, line 1, column 6: \(reason); see: pando query --help")
  }
}
