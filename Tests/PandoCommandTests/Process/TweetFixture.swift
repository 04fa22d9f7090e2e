import Foundation
import PandoModels

/// JSON of the shape that a search for tweets returns: statuses that hold users, users that occur
/// many times, statuses inside statuses, entities without identifier, maps, and data around it all.
enum TweetFixture {
  static let statusCount = 24
  static let userCount = 7
  /// Statuses that stand only inside others, each in several.
  static let repeatedCount = 2

  /// The document.
  static var document: TreeValue {
    [
      "statuses": .array((0..<statusCount).map(status)),
      "search_metadata": [
        "completed_in": 0.087, "max_id": 505_874_924_095_815_700, "count": 24, "since_id_str": "0",
      ],
    ]
  }

  /// Statuses in the document, retweeted ones that stand nowhere else included.
  static var storedStatusCount: Int { statusCount + repeatedCount }

  /// The arguments that say what is a node.
  static let mapping = [
    "--map", "statuses=Status:id_str", "--map", "user=User:id_str",
    "--map", "retweeted_status=Status:id_str", "--map", "sizes=Size:key",
  ]

  private static func status(_ number: Int) -> TreeValue {
    var status = plainStatus(number, user: number % userCount)
    if number % 5 == 4 {
      let repeated = 1000 + number % repeatedCount
      status["retweeted_status"] = plainStatus(repeated, user: repeated % userCount)
    }
    return status
  }

  private static func plainStatus(_ number: Int, user: Int) -> TreeValue {
    [
      "id": .integer(.max - Int64(number)),
      "id_str": .string(String(Int64.max - Int64(number))),
      "text": .string("Nr \(number): \"zażółć\" 一 😀 \\ / \u{8}\u{c}\n\r\t\u{0}\u{7f}\u{2028}"),
      "score": .double([-0.0, 0.1, 1e-300, 1e300, .leastNonzeroMagnitude, 1.0][number % 6]),
      "big": .unsigned(.max),
      "truncated": .bool(number % 2 == 0),
      "in_reply_to": .null,
      "user": self.user(user),
      "entities": [
        "hashtags": [], "urls": [["indices": [0, 5], "url": "http:\u{2F}\u{2F}t.co"]],
        "user_mentions": [["id_str": "4711", "name": ""]], "media": [:],
      ],
      "sizes": ["small": size("s"), "large": size("l")],
      "nested": [[[]], [:], [.null, [[1]]]],
    ]
  }

  private static func user(_ number: Int) -> TreeValue {
    [
      "id": .integer(1_186_275_104 + Int64(number)),
      "id_str": .string(String(1_186_275_104 + number)),
      "name": .string("User \(number) ☕"), "followers_count": .integer(Int64(number) * 100),
      "utc_offset": number == 3 ? .null : .integer(-18_000), "entities": ["urls": []],
    ]
  }

  private static func size(_ key: String) -> TreeValue {
    ["key": .string(key), "w": key == "s" ? 340 : 1024]
  }
}
