import PandoProviders
import Testing

/// Takes the next element of a sequence and compares it.
func expectNext<Element: Equatable>(
  _ iterator: inout FollowedSequence<Element>.AsyncIterator, _ expected: Element,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let element = try await iterator.next()
  try #require(element == .some(expected), sourceLocation: sourceLocation)
}

/// Expects that a sequence has ended.
func expectEnd<Element>(
  _ iterator: inout FollowedSequence<Element>.AsyncIterator,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let element = try await iterator.next()
  try #require(element == nil, sourceLocation: sourceLocation)
}
