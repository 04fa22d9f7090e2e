import FoundationEssentials
import PandoModels

/// Where the entities are in an answer, and what is known of them.
public struct RemotePayload<E: Entity>: Sendable {
  /// The names that lead to the entities from the outermost object inward; empty if the content is
  /// an entity or a list of them.
  public var names: [String]
  /// Whether an answer to an unbounded search has all that the server has.
  public var isComplete = true
  /// Whether filter, order and window of the query are applied to the answer here, because the server
  /// was asked for all.
  public var isFilteredHere = false
  /// Reads the entities where names are not enough; `nil` to read JSON.
  public var read: (@Sendable (APIResponse) throws -> [E])?

  /// Makes a description of an answer.
  ///
  /// - Parameter names: The names that lead to the entities.
  public init(_ names: [String] = []) { self.names = names }

  /// The whole content: one entity or a list of them.
  public static var content: RemotePayload { RemotePayload() }

  /// Inside an object, as in `{"data": {"books": […]}}`.
  ///
  /// - Parameter names: The names that lead to the entities from the outermost object inward.
  /// - Returns: The description.
  public static func under(_ names: String...) -> RemotePayload { RemotePayload(names) }

  /// Reads an answer in a way of its own.
  ///
  /// - Parameter read: Reads the entities; an empty content is an empty list before it is called.
  /// - Returns: The description.
  public static func reading(
    _ read: @escaping @Sendable (APIResponse) throws -> [E]
  ) -> RemotePayload {
    var payload = RemotePayload()
    payload.read = read
    return payload
  }
}

extension RemotePayload {
  private static var namesKey: CodingUserInfoKey {
    guard let key = CodingUserInfoKey(rawValue: "pando.payloadNames") else {
      preconditionFailure("every text makes a key")
    }
    return key
  }

  /// Reads the entities of an answer.
  ///
  /// - Throws: ``APIError`` `malformedAnswer`, which says where.
  func entities(
    in response: APIResponse, to request: APIRequest, decoder: JSONDecoder
  ) throws -> [E] {
    guard !response.body.isEmpty else { return [] }
    do {
      if let read { return try read(response) }
      decoder.userInfo[Self.namesKey] = names
      return try decoder.decode(Content.self, from: response.body).entities
    } catch let error as APIError {
      throw error
    } catch let error as DecodingError {
      throw Self.malformed(response, to: request, error)
    } catch {
      throw APIError(
        .malformedAnswer, request, "the answer can't be read as \(E.modelTypeName)",
        status: response.status, underlying: error)
    }
  }

  /// Says where an answer is not what was expected.
  private static func malformed(
    _ response: APIResponse, to request: APIRequest, _ error: DecodingError
  ) -> APIError {
    let reason: String
    do {
      _ = try TreeValue(json: String(decoding: response.body, as: UTF8.self))
      reason = "the answer is no \(E.modelTypeName): \(error.sentence)"
    } catch {
      reason = "the answer is not JSON: \(error)"
    }
    return APIError(.malformedAnswer, request, reason, status: response.status)
  }

  /// What the decoder reads: it follows the names, then takes an entity or a list of them.
  private struct Content: Decodable {
    var entities: [E]

    init(from decoder: any Decoder) throws {
      let names = decoder.userInfo[RemotePayload.namesKey] as? [String] ?? []
      guard let first = names.first, let last = names.last else {
        entities = try Self.entities(in: decoder.singleValueContainer(), decoder)
        return
      }
      var container = try decoder.container(keyedBy: AnyName.self)
      var name = AnyName(stringValue: first)
      for next in names.dropFirst() {
        container = try container.nestedContainer(keyedBy: AnyName.self, forKey: name)
        name = AnyName(stringValue: next)
      }
      name = AnyName(stringValue: last)
      entities = try container.decode(Members.self, forKey: name).entities
    }

    static func entities(
      in container: any SingleValueDecodingContainer, _ decoder: any Decoder
    ) throws -> [E] {
      if container.decodeNil() { return [] }
      // Not by trying: the error must be that of the form that is there.
      guard (try? decoder.unkeyedContainer()) != nil else { return [try container.decode(E.self)] }
      return try container.decode([E].self)
    }
  }

  /// An entity or a list of them.
  private struct Members: Decodable {
    var entities: [E]

    init(from decoder: any Decoder) throws {
      entities = try Content.entities(in: decoder.singleValueContainer(), decoder)
    }
  }
}

/// A name that is known at run time only.
private struct AnyName: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension DecodingError {
  /// Where in the JSON and what is wrong, as `$[3].year: expected a number`.
  var sentence: String {
    let context: Context
    var reason: String
    switch self {
    case .keyNotFound(let key, let found):
      context = found
      reason = "there is no \"\(key.stringValue)\""
    case .typeMismatch(let type, let found):
      context = found
      reason = "expected \(type)"
    case .valueNotFound(let type, let found):
      context = found
      reason = "expected \(type), found null"
    case .dataCorrupted(let found):
      context = found
      reason = found.debugDescription
    @unknown default: return "\(self)"
    }
    while reason.hasSuffix(".") { reason.removeLast() }
    let place = context.codingPath.map { key in
      key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
    }
    return "$\(place.joined()): \(reason)"
  }
}
