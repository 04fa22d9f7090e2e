import PandoModels

extension Filter {
  /// Entities whose texts contain the words of a search.
  ///
  /// ```swift
  /// let found = Query<Tea>(filter: .search("red chai"), order: [.relevance], limit: 20)
  /// ```
  /// Words are compared without case and accents. The words may be in different fields. A word is a sequence of
  /// letters and digits. Each letter of Thai, Lao, Khmer, Myanmar and Hiragana is a word, and so is each ideograph; a
  /// search with several of these in a row finds them in a row only. A search without a word matches all entities, or
  /// none with ``WordMatching/anyWord``.
  ///
  /// An index of words, declared by ``FieldIndex/text(_:)`` or `@Searchable`, finds the entities. Without such an index
  /// the query reads each text. To find a part of a word, use ``contains(_:_:_:)``.
  ///
  /// - Parameters:
  ///   - text: The words.
  ///   - matching: How they are found; by default all of them, the last one by its beginning.
  ///   - keyPaths: The places of the texts, or of lists of texts; by default the fields of the first index of
  ///     words that the type declares.
  /// - Returns: The filter.
  public static func search(
    _ text: String, _ matching: WordMatching = .allWords,
    in keyPaths: any PartialKeyPath<E> & Sendable...
  ) -> Filter {
    Filter(.search(searchedFields(keyPaths), WordSearch(text, matching)))
  }

  /// The declared fields; none if one is not declared.
  private static func searchedFields(
    _ keyPaths: [any PartialKeyPath<E> & Sendable]
  ) -> [QueryField<E>] {
    if keyPaths.isEmpty { return E.indexes.lazy.compactMap(\.searchedFields).first ?? [] }
    var fields: [QueryField<E>] = []
    for keyPath in keyPaths {
      guard let field = QueryField<E>(declaredTextAt: keyPath) else { return [] }
      if !fields.contains(field) { fields.append(field) }
    }
    return fields
  }

  /// Where the words of the filter's searches are in a text.
  ///
  /// ```swift
  /// for range in query.filter.ranges(in: tea.details) { details[range].font = .bold }
  /// ```
  /// Pando computes them from the text; a store keeps no positions.
  ///
  /// - Parameter text: A text of an entity.
  /// - Returns: The ranges, in order; none overlap. A phrase is one range.
  /// - Complexity: O(*n* · *w*) for *n* words of the text and *w* of the filter.
  public func ranges(in text: String) -> [Range<String.Index>] {
    var found: [Range<Int>] = []
    tree.forEachLeaf { leaf in
      if case .search(_, let search) = leaf { found += search.ranges(in: text) }
    }
    var joined: [Range<Int>] = []
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound < last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined.map { range in
      let start = text.utf8.index(text.utf8.startIndex, offsetBy: range.lowerBound)
      return start..<text.utf8.index(start, offsetBy: range.count)
    }
  }
}

extension QueryField {
  /// The declared text, or list of texts, at a key path; `nil` if there is none.
  fileprivate init?(declaredTextAt keyPath: any PartialKeyPath<E> & Sendable) {
    guard let field = E.fields.first(where: { $0.reference.isText(at: keyPath) }) else {
      return nil
    }
    self = field.reference
  }

  /// Whether it is the value at a key path, or each element of a list there; no child.
  func isText(at keyPath: any PartialKeyPath<E> & Sendable) -> Bool {
    self.keyPath == keyPath && !namesChildren && !isFolded
  }
}
