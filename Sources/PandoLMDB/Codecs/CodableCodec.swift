import FoundationEssentials

/// Any `Codable` value, as JSON with sorted keys.
///
/// Equal values have equal bytes, and other tools can read them. Numbers that JSON lacks are written
/// as the strings `inf`, `-inf` and `nan`.
public struct CodableCodec<Value: Codable & Sendable>: ValueCodec {
  /// Makes the codec.
  public init() {}

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Where to write.
  /// - Throws: What the value's `encode(to:)` throws.
  public func encode(_ value: Value, into buffer: inout EncodingBuffer) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let json = try [UInt8](encoder.encode(value))
    buffer.append(contentsOf: json.span)
  }

  /// Reads a value back.
  ///
  /// - Parameter bytes: JSON.
  /// - Returns: The value.
  /// - Throws: ``LMDBError`` with code `undecodable` that names what does not fit.
  public func decode(_ bytes: Span<UInt8>) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      let json = unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
      return try decoder.decode(Value.self, from: json)
    } catch {
      throw LMDBError.undecodable("\(Value.self)", "\(error)")
    }
  }
}

extension ValueCodec {
  /// Any `Codable` value.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The codec.
  public static func codable<Coded: Codable & Sendable>(
    _ type: Coded.Type
  ) -> CodableCodec<Coded> where Self == CodableCodec<Coded> {
    CodableCodec()
  }
}
