import Testing

/// What docs/ancestors.md names on this side is there.
@Suite struct AncestorsTests {
  private struct Name {
    let type: String
    var member: String?
    /// `nil` if none are named.
    var labels: [String]?

    /// Reads `Type`, `Type.member` or `Type.member(_:label:)`; also of nested types.
    init?(_ text: Substring) {
      guard let match = text.wholeMatch(of: /([A-Z]\w*(?:\.[A-Z]\w*)?)(?:\.(\w+))?(\(.*\))?/) else {
        return nil
      }
      type = match.1.split(separator: ".").last.map(String.init) ?? ""
      member = match.2.map(String.init)
      labels = match.3.map { $0.dropFirst().dropLast().split(separator: ":").map(String.init) }
    }
  }

  /// All source files that declare or extend a type, by its name.
  private static let sources: [String: String] = {
    var found: [String: String] = [:]
    for file in Package.swiftFiles(in: "Sources") {
      guard let text = try? Package.text(of: file) else { continue }
      let names = text.matches(of: /\b(?:class|struct|enum|protocol|extension) (?:\w+\.)?(\w+)/)
      for name in Set(names.map { String($0.1) }) { found[name, default: ""] += text }
    }
    return found
  }()

  private static func isThere(_ name: Name) -> Bool {
    guard let text = sources[name.type] else { return false }
    guard let member = name.member else { return true }
    if let labels = name.labels { return signatures(of: member, in: text).contains(labels) }
    return text.contains(
      (try? Regex("\\b(?:func|var|let|case|init|subscript) ?\(member)\\b")) ?? Regex(/$^/))
  }

  /// The argument labels of all functions of a name.
  private static func signatures(of member: String, in text: String) -> [[String]] {
    let isSpecial = ["init", "subscript"].contains(member)
    let start = isSpecial ? "\\b\(member)\\??(?:<[^(]*>)?\\(" : "\\bfunc \(member)(?:<[^(]*>)?\\("
    guard let regex = try? Regex(start) else { return [] }
    return text.ranges(of: regex).map { range in
      var labels: [String] = []
      var parameter = ""
      var depth = 0
      for character in text[range.upperBound...] {
        if depth == 0, character == ")" { break }
        switch character {
        case "(", "[", "<", "{": depth += 1
        case ")", "]", "}": depth -= 1
        case ">" where parameter.last != "-": depth -= 1
        default: break
        }
        if depth == 0, character == "," {
          labels.append(label(parameter, isSubscript: member == "subscript"))
          parameter = ""
        } else {
          parameter.append(character)
        }
      }
      if !parameter.isEmpty { labels.append(label(parameter, isSubscript: member == "subscript")) }
      return labels
    }
  }

  private static func label(_ parameter: String, isSubscript: Bool) -> String {
    let names = parameter.prefix { $0 != ":" }.split { $0.isWhitespace }
    return isSubscript && names.count == 1 ? "_" : names.first.map(String.init) ?? ""
  }

  @Test func `each name in the second column is there, and each that is absent has a reason`()
    throws
  {
    var count = 0
    let page = try Package.text(of: "docs/ancestors.md")
    for row in page.split(separator: "\n") where row.hasPrefix("| ") && !row.hasPrefix("| there") {
      let cells = row.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingPrefix(/\s+/) }
      if cells.count == 3, cells[1].hasPrefix("absent") {
        #expect(cells[2].contains(/\w/), "\(row)")
      }
      for cell in cells.dropFirst() {
        for match in cell.matches(of: /`([^`]+)`/) {
          guard let name = Name(match.1) else { continue }
          count += 1
          #expect(Self.isThere(name), "\(match.1)")
        }
      }
    }
    #expect(count > 80)
  }
}
