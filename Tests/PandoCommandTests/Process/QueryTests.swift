import Foundation
import PandoFixtures
import Testing

/// query and index.
@Suite struct QueryTests {
  private static let books = """
    {"id":1,"title":"The first","year":1980,"place":{"city":"Ulm","shelf":3},"lent":false}
    {"id":2,"title":"The second","year":1990,"place":{"city":"Ulm","shelf":1},"lent":true}
    {"id":3,"title":"A third","year":1990.5,"place":null,"lent":null}
    {"id":4,"title":"é","year":18446744073709551615,"place":{"city":"Bonn"}}
    {"id":"five","title":"a \\"fifth\\"","year":null,"odd name":1,"lent":[true]}
    """

  private func withStore(_ body: (_ store: String) throws -> Void) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "Book:id", input: QueryTests.books)
      try body(store)
    }
  }

  private func found(_ store: String, _ filter: String, _ options: String...) throws -> String {
    let outcome = try PandoProcess.run(["query", store, "Book", filter] + options)
    try #require(outcome.status == 0, "\(filter): \(outcome.errors)")
    if options.contains("--explain") { return outcome.output.trimmingCharacters(in: .newlines) }
    return outcome.lines.map { $0.replacingOccurrences(of: "Book:", with: "") }
      .joined(separator: " ")
  }

  /// Filters and the books that they find.
  private static let filters = [
    ("all", "1 2 3 4 five"), ("year == 1990", "2"), ("year > 1980 && year < 1991", "2 3"),
    ("year >= 1990.5", "3 4"), ("year == 18446744073709551615", "4"), ("year == null", "five"),
    ("year != null", "1 2 3 4"), ("!(year == 1980 || year == 1990)", "3 4 five"),
    ("!!year == 1980", "1"), (#"title ~= "^The""#, "1 2"), (#"title ~= "i(r|f)""#, "1 3 five"),
    (#"title == "a \"fifth\"""#, "five"), (#"title == "\u00e9""#, "4"),
    (#"title >> ["A third", "é", 3]"#, "3 4"), ("title >> []", ""),
    (#"place.city == "Ulm" && place.shelf <= 1"#, "2"), ("place == null", "3 five"),
    ("lent == true", "2"), ("lent != true", "1 3 4 five"), ("`odd name` == 1", "five"),
    (#"$id == "Book:2""#, "2"), (#"$id >> ["Book:five", "Book:1", "x"] && year < 5000"#, "1"),
    (#"$id ~= "^Book:[12]""#, "1 2"), ("year < 0", ""), ("year == -1.5e3", ""),
    ("year == 1980 ||\n  id == 3", "1 3"), (#"title > date("2026-11-21T18:00:00Z")"#, ""),
    (#"id != uuid("00000000-0000-0000-0000-000000000001")"#, "1 2 3 4 five"),
    (#"year == 1980 || year == 1990 && lent == false"#, "1"),
  ]

  @Test(arguments: [false, true])
  func `a filter finds the matching nodes, with and without indexes`(withIndexes: Bool) throws {
    try withStore { store throws in
      if withIndexes {
        for field in ["year", "title", "place.city", "lent", "id"] {
          try PandoProcess.output("index", store, "add", "Book", field)
        }
      }
      for (filter, expected) in QueryTests.filters {
        #expect(try found(store, filter) == expected, "\(filter)")
      }
      #expect(try found(store, "all", "--order", "year:desc") == "4 3 2 1 five")
      #expect(try found(store, "all", "--order", "year:desc", "--limit", "2") == "4 3")
      #expect(try found(store, "all", "--order", "lent", "--order", "$id:desc") == "4 3 1 2 five")
      #expect(try found(store, "all", "--order", "title", "--limit", "3") == "3 1 2")
      #expect(try found(store, "all", "--limit", "0") == "")
      #expect(try found(store, "year > 1980", "--count") == "3")
      #expect(
        try PandoProcess.output("query", store, "Book", "year == 1980", "--json")
          == "[\n  \"Book:1\"\n]\n")
    }
  }

  @Test func `explain prints the plan of a query`() throws {
    try withStore { store throws in
      #expect(try found(store, "year == 1990", "--explain") == "Book: scan (5 in all)")
      try PandoProcess.output("index", store, "add", "Book", "year")
      #expect(
        try found(store, "year == 1990", "--explain")
          == "Book: index on year (5 in all)")
      #expect(
        try found(store, "all", "--order", "year", "--limit", "1", "--explain")
          == "Book: index on year, in order (5 in all)")
      #expect(
        try found(store, #"$id == "Book:1""#, "--explain")
          == "Book: by identifier (5 in all)")
      #expect(
        try PandoProcess.output("query", store, "Book", "all", "--explain", "--json")
          == #"{"plan":"Book: scan (5 in all)"}"# + "\n")
    }
  }

  /// Wrong filters, and the place and the reason that the error gives.
  private static let mistakes = [
    ("", "line 1, column 1: expected a field, ! or (, found the end"),
    (
      "year",
      "line 1, column 5: expected ==, !=, <, <=, >, >=, ~= or >> after “year”, found the end"
    ),
    ("year = 3", "line 1, column 6: “=” is no part of a filter; equality is =="),
    ("year == 3 & x == 1", "line 1, column 11: “&” is no part of a filter; “and” is &&"),
    (
      "year == 'a'",
      "line 1, column 9: “'” is no part of a filter; texts stand in double quotation marks"
    ),
    ("year == 3 x == 1", "line 1, column 11: expected &&, || or the end, found “x”"),
    ("(year == 3", "line 1, column 11: expected ) after what is in brackets, found the end"),
    ("year ==\n  && x == 1", "line 2, column 3: expected a value, found “&&”"),
    (
      "year == nineteen", "line 1, column 9: “nineteen” is no value; texts stand in quotation marks"
    ),
    ("year == 12a", "line 1, column 9: “12a” is no number"),
    ("year == 1e400", "line 1, column 9: “1e400” is no number"),
    (#"title == "x"#, "line 1, column 10: this text has no closing quotation mark"),
    (#"title == "\x""#, "line 1, column 10: this text is not as JSON writes texts"),
    (#"title ~= "(""#, "line 1, column 10: “(” is no regular expression"),
    (
      "title ~= 3", "line 1, column 10: expected a regular expression in quotation marks, found “3”"
    ),
    ("year >> 3", "line 1, column 9: expected [ after >>, found “3”"),
    ("year >> [3, ]", "line 1, column 13: expected a value, found “]”"),
    ("year >> [3", "line 1, column 11: expected ] after the values, found the end"),
    ("`x == 3", "line 1, column 1: this name has no closing `"),
    ("`` == 3", "line 1, column 1: this name is empty"),
    (#"year < date("soon")"#, "line 1, column 13: “soon” is no date such as 2026-11-21T18:00:00Z"),
    (
      #"x < date("2026-02-31T00:00:00Z")"#,
      "line 1, column 10: “2026-02-31T00:00:00Z” is no date: February 2026 has the days 01 to 28"
    ),
    (
      #"x < date("1900-02-29T00:00:00Z")"#,
      "line 1, column 10: “1900-02-29T00:00:00Z” is no date: February 1900 has the days 01 to 28"
    ),
    (
      #"x < date("2026-11-31T00:00:00Z")"#,
      "line 1, column 10: “2026-11-31T00:00:00Z” is no date: November 2026 has the days 01 to 30"
    ),
    (
      #"x < date("2026-01-00T00:00:00Z")"#,
      "line 1, column 10: “2026-01-00T00:00:00Z” is no date: January 2026 has the days 01 to 31"
    ),
    (
      #"x < date("2026-13-01T00:00:00Z")"#,
      "line 1, column 10: “2026-13-01T00:00:00Z” is no date: month 13 is not between 01 and 12"
    ),
    (
      #"x < date("2026-01-01T25:00:00Z")"#,
      "line 1, column 10: “2026-01-01T25:00:00Z” is no date: hour 25 is not between 00 and 23"
    ),
    (
      #"x < date("2026-01-01T24:00:00Z")"#,
      "line 1, column 10: “2026-01-01T24:00:00Z” is no date: hour 24 is not between 00 and 23"
    ),
    (
      #"x < date("2026-01-01T00:60:00Z")"#,
      "line 1, column 10: “2026-01-01T00:60:00Z” is no date: minute 60 is not between 00 and 59"
    ),
    (
      #"x < date("2026-01-01T00:00:61Z")"#,
      "line 1, column 10: “2026-01-01T00:00:61Z” is no date: second 61 is not between 00 and 59"
    ),
    (
      #"x < date("2026-01-01T00:00:00+24:00")"#,
      "line 1, column 10: “2026-01-01T00:00:00+24:00” is no date: hour of the zone 24 is not between "
        + "00 and 23"
    ),
    (
      #"x < date("2026-01-01T00:00:00+01:60")"#,
      "line 1, column 10: “2026-01-01T00:00:00+01:60” is no date: minute of the zone 60 is not "
        + "between 00 and 59"
    ),
    (
      #"x < date("2026-01-01T00:00:00")"#,
      "line 1, column 10: “2026-01-01T00:00:00” is no date such as 2026-11-21T18:00:00Z"
    ),
    (
      #"x < date("2026-01-01T00:00:00Z ")"#,
      "line 1, column 10: “2026-01-01T00:00:00Z ” is no date such as 2026-11-21T18:00:00Z"
    ),
    (
      #"x < date("2026-1-1T0:0:0Z")"#,
      "line 1, column 10: “2026-1-1T0:0:0Z” is no date such as 2026-11-21T18:00:00Z"
    ),
    ("`a``b == 1", "line 1, column 1: this name has no closing `"),
    (#"year < uuid("1")"#, "line 1, column 13: “1” is no UUID"),
    ("3 == year", "line 1, column 1: expected a field, ! or (, found “3”"),
    (
      String(repeating: "!", count: 200) + "a == 1",
      "line 1, column 101: more than 100 brackets and “!” inside each other"
    ),
  ]

  @Test(arguments: mistakes)
  func `an error names the place of a mistake in a filter`(filter: String, line: String) throws {
    // Before the store is looked for.
    #expect(
      try PandoProcess.failure(2, "query", "absent", "Book", filter)
        == "pando query: FILTER, \(line); see: pando query --help")
  }

  @Test(arguments: [
    ("2026-11-21T18:00:00Z", 816_976_800.0), ("2001-01-01T00:00:00Z", 0),
    ("2000-02-29T23:59:59Z", -26_438_401), ("2024-02-29T00:00:00+00:00", 730_857_600),
    ("2026-11-21T18:00:00.25Z", 816_976_800.25), ("2026-11-21T19:30:00+01:30", 816_976_800),
    ("2026-11-21T12:30:00-0530", 816_976_800), ("2026-11-21T17:00:00-01", 816_976_800),
    ("1970-01-01T00:00:00Z", -978_307_200), ("0001-01-01T00:00:00Z", -63_113_904_000),
    ("9999-12-31T23:59:59Z", 252_423_993_599), ("0000-03-01T00:00:00Z", -63_140_342_400),
  ])
  func `a date is the second that it names`(text: String, seconds: Double) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--root", "D:id", input: #"{"id":1,"at":\#(seconds)}"#)
      #expect(try PandoProcess.output("query", store, "D", #"at == date("\#(text)")"#) == "D:1\n")
    }
  }

  /// Fields whose names are words of the query language, or hold its signs.
  private static let schema = """
    {"id":1,"$id":"x","$children":["y"],"$ref":"/a","all":true,"null":1,"a`b":1,"in":{"$id":"z"}}
    {"id":2,"$id":"w","$children":null,"$ref":"/b","all":false,"null":2,"a`b":2,"in":{"$id":"v"}}
    """

  @Test(arguments: [false, true])
  func `a field that is named like a word of the language stands in backticks`(
    withIndexes: Bool
  ) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/store"
      try PandoProcess.output(
        "import", store, "-", "--lines", "--root", "Book:id", input: QueryTests.schema)
      if withIndexes {
        for field in ["$id", "$children", "$ref", "`all`", "`a``b`", "in.$id"] {
          try PandoProcess.output("index", store, "add", "Book", field)
        }
        #expect(
          try PandoProcess.output("index", store, "list").contains("Book\t$id\nBook\t$ref\n"))
      }
      for (filter, expected) in [
        (#"`$id` == "x""#, "1"), (#"$id == "x""#, ""), (#"$id == "Book:1""#, "1"),
        (#"`$id` == "Book:1""#, ""), (#"`$id` ~= "^[vw]""#, "2"), ("`$children` == null", "2"),
        (#"$ref == "/a""#, "1"), (#"`$ref` == "/b""#, "2"), ("`all` == true", "1"),
        ("all == false", "2"), ("`null` == 2", "2"), ("`a``b` == 1", "1"), ("!`all` == true", "2"),
        (#"in.$id == "z""#, "1"), (#"`in.$id` == "v" && $id != "Book:1""#, "2"),
      ] {
        #expect(try found(store, filter) == expected, "\(filter)")
        if withIndexes, filter.hasPrefix("`$id` ==") {
          #expect(try found(store, filter, "--explain") == "Book: index on $id (2 in all)")
        }
      }
      #expect(try found(store, "all", "--order", "$id") == "1 2")
      #expect(try found(store, "all", "--order", "`$id`") == "2 1")
      #expect(try found(store, "all", "--order", "`$id`:desc") == "1 2")
      #expect(try found(store, "all", "--order", "`a``b`:desc") == "2 1")
      #expect(
        try PandoProcess.failure(1, "query", store, "Book", "$idd == 1").contains(
          "no Book has a field “$idd”"))
      #expect(
        try PandoProcess.failure(
          1, "query", store, "Book", "all", "--order", "`$idd`", "--limit", "0"
        )
        .contains("no Book has a field “$idd”"))
      #expect(
        try PandoProcess.failure(2, "query", store, "Book", "all", "--order", "`x`y").contains(
          "“`x`y” does not end with its closing `"))
    }
  }

  @Test func `an unknown type or field is status 1`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.failure(1, "query", store, "Boot", "all")
          == "pando query: \(store): there is no node of type Boot; see which types there are "
          + "with: pando stat \(store)")
      #expect(
        try PandoProcess.failure(1, "query", store, "Book", "yaer == 1990")
          == "pando query: \(store): no Book has a field “yaer”; it has: id, lent, odd name, "
          + "place, title, year")
      #expect(
        try PandoProcess.failure(1, "query", store, "Book", "place.town == 1").contains(
          "no Book has a field “place.town”"))
      #expect(try found(store, "place.shelf == 99") == "", "one of them has it")
    }
  }

  @Test func `indexes are added, listed, checked and dropped`() throws {
    try withStore { store throws in
      #expect(try PandoProcess.output("index", store, "list") == "")
      #expect(
        try PandoProcess.output("index", store, "add", "Book", "year") == "added\tBook\tyear\n")
      #expect(
        try PandoProcess.output("index", store, "add", "Book", "year")
          == "there already\tBook\tyear\n")
      try PandoProcess.output("index", store, "add", "Book", "place.city")
      #expect(
        try PandoProcess.output("index", store, "list") == "Book\tplace.city\nBook\tyear\n")
      #expect(
        try PandoProcess.output("index", store, "list", "--json")
          == """
          [
            {"field":"place.city","type":"Book"},
            {"field":"year","type":"Book"}
          ]

          """)
      try PandoProcess.output("set", store, "Book:2", #"{"year": 1980}"#, "--merge")
      try PandoProcess.output("delete", store, "Book:1")
      #expect(try found(store, "year == 1980") == "2")
      #expect(try PandoProcess.output("index", store, "check") == "clean: 2 indexes\n")
      #expect(
        try PandoProcess.output("index", store, "check", "--json")
          == "{\n  \"clean\": true,\n  \"indexes\": 2,\n  \"problems\": []\n}\n")
      #expect(
        try PandoProcess.output("index", store, "drop", "Book", "place.city")
          == "dropped\tBook\tplace.city\n")
      #expect(
        try PandoProcess.failure(1, "index", store, "drop", "Book", "place.city")
          == "pando index: \(store): there is no index of place.city of Book; list them with: "
          + "pando index \(store) list")
      #expect(
        try PandoProcess.failure(1, "index", store, "add", "Boot", "year").contains(
          "there is no node of type Boot"))
      #expect(
        try PandoProcess.failure(3, "index", store, "add", "Book", "").contains("1 to 400 bytes"))
      #expect(try PandoProcess.output("index", store, "list") == "Book\tyear\n")
    }
  }

  @Test func `an index of words is added, searched and dropped`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.failure(1, "query", store, "Book", "all", "--search", "x")
          .contains("no index has words of a Book"))
      try PandoProcess.output(
        "set", store, "Book:2", #"{"title": "Dûne, and the DUNE"}"#, "--merge")
      #expect(
        try PandoProcess.output("index", store, "add", "Book", "title", "isbn", "--text")
          == "added\tBook\twords(title,isbn)\n")
      #expect(try PandoProcess.output("index", store, "list") == "Book\twords(title,isbn)\n")
      let found = try PandoProcess.output("query", store, "Book", "all", "--search", "dun")
      #expect(found.hasPrefix("Book:2\n"))
      #expect(
        try PandoProcess.output("query", store, "Book", "all", "--search", "dun", "--explain")
          .hasPrefix("Book: words of title, isbn"))
      #expect(try PandoProcess.output("index", store, "check") == "clean: 1 index\n")
      try PandoProcess.output("index", store, "drop", "Book", "title", "isbn", "--text")
      #expect(try PandoProcess.output("index", store, "list") == "")
    }
  }

  @Test func `an index with totals is added, listed, dumped and loaded`() throws {
    try withStore { store throws in
      #expect(
        try PandoProcess.output(
          "index", store, "add", "Book", "year", "--sum", "pages", "--sum", "price")
          == "added\tBook\tyear\n")
      try PandoProcess.output("index", store, "add", "Book", "title", "--totals", "--unique")
      #expect(
        try PandoProcess.output("index", store, "list")
          == "Book\ttitle\tunique\ttotals\nBook\tyear\ttotals pages price\n")
      #expect(
        try PandoProcess.output("index", store, "list", "--json")
          == """
          [
            {"fields":["title"],"sums":[],"type":"Book","unique":true},
            {"field":"year","sums":["pages","price"],"type":"Book"}
          ]

          """)
      try PandoProcess.output("set", store, "Book:2", #"{"year": 1980, "pages": 7}"#, "--merge")
      try PandoProcess.output("delete", store, "Book:1")
      #expect(try PandoProcess.output("index", store, "check") == "clean: 2 indexes\n")
      #expect(try PandoProcess.output("verify", store).hasPrefix("clean: "))
      #expect(
        try PandoProcess.failure(2, "index", store, "drop", "Book", "year", "--totals")
          .contains("is for add, not for drop"))
      #expect(
        try PandoProcess.failure(3, "index", store, "add", "Book", "isbn", "--sum", "a.b")
          .contains("an index sums up fields of the record itself"))
    }
  }
}
