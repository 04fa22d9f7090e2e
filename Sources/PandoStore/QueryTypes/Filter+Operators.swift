/// Entities whose field equals a value.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func == <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .equal, value.queryValue)) }

/// Entities whose field differs from a value; null differs from every other value.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func != <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .notEqual, value.queryValue)) }

/// Entities whose field is less than a value; null never is.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func < <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .less, value.queryValue)) }

/// Entities whose field is less than a value or equal to it.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func <= <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .lessOrEqual, value.queryValue)) }

/// Entities whose field is greater than a value; null never is.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func > <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .greater, value.queryValue)) }

/// Entities whose field is greater than a value or equal to it.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - value: The value.
/// - Returns: The filter.
public func >= <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, value: Value
) -> Filter<E> { Filter(.compare(QueryField(field), .greaterOrEqual, value.queryValue)) }

/// Entities with a text that contains a match of a regular expression.
///
/// A query with an invalid expression throws ``QueryError`` `invalidRegularExpression`.
///
/// The text is compared by Unicode scalars: `.` is one scalar and no line break; `é` does not match `e` with
/// an accent after it. `\b` is a word boundary of Unicode. `^` and `$` are the ends of the text, with `(?m)`
/// those of lines; `(?i)` ignores case. There is no look-behind and no limit of time: nested repetitions as
/// `(a*)*b` can take practically forever on a text of forty letters. Accept no expressions from untrusted users.
///
/// - Parameters:
///   - field: The place of the text in the entity.
///   - pattern: The expression, in the syntax of Swift's `Regex`.
/// - Returns: The filter.
public func ~= <E: Queryable, Value: QueryRepresentable>(
  field: any KeyPath<E, Value> & Sendable, pattern: String
) -> Filter<E> { Filter(.pattern(QueryField(field), FilterPattern(pattern))) }

/// Entities whose field has one of several values.
///
/// - Parameters:
///   - field: The place of the value in the entity.
///   - values: The values.
/// - Returns: The filter.
public func >> <E: Queryable, Value: QueryRepresentable, Values: Sequence<Value>>(
  field: any KeyPath<E, Value> & Sendable, values: Values
) -> Filter<E> {
  Filter(.isIn(QueryField(field), QueryValueSet(values.map(\.queryValue))))
}

extension Filter {
  /// Entities that match both filters.
  ///
  /// - Parameters:
  ///   - left: A filter.
  ///   - right: A filter.
  /// - Returns: The filter.
  public static func && (left: Filter, right: Filter) -> Filter {
    switch (left.tree, right.tree) {
    case (.all, _): right
    case (_, .all): left
    case (.and(let some), .and(let others)): Filter(.and(some + others))
    case (.and(let some), let other): Filter(.and(some + [other]))
    case (let some, .and(let others)): Filter(.and([some] + others))
    case (let some, let other): Filter(.and([some, other]))
    }
  }

  /// Entities that match at least one of the filters.
  ///
  /// - Parameters:
  ///   - left: A filter.
  ///   - right: A filter.
  /// - Returns: The filter.
  public static func || (left: Filter, right: Filter) -> Filter {
    switch (left.tree, right.tree) {
    case (.all, _), (_, .all): .all
    case (.or(let some), .or(let others)): Filter(.or(some + others))
    case (.or(let some), let other): Filter(.or(some + [other]))
    case (let some, .or(let others)): Filter(.or([some] + others))
    case (let some, let other): Filter(.or([some, other]))
    }
  }

  /// Entities that do not match the filter.
  ///
  /// - Parameter filter: A filter.
  /// - Returns: The filter.
  public static prefix func ! (filter: Filter) -> Filter {
    if case .not(let inner) = filter.tree { return Filter(inner) }
    return Filter(.not(filter.tree))
  }
}
