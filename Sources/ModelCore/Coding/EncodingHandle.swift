/// What a container that writes fields knows of its frame.
///
/// A container is an object whose type has to be made or found at run time, which takes as long as to
/// write a few fields. So one that no model has kept serves the next map too: then its handle refers to
/// another frame.
@safe final class EncodingHandle {
  /// The frame, which lives and is open while this is not `nil`, or is `owner`.
  @exclusivity(unchecked) private var frame: Unmanaged<EncodingFrame>?
  /// The frame of a container that serves one map only.
  private let owner: EncodingFrame?

  /// Makes the handle of a container that serves one map after another.
  init() { owner = nil }

  /// Makes the handle of a container that serves one map.
  init(owner: EncodingFrame) {
    self.owner = owner
    unsafe frame = .passUnretained(owner)
  }

  /// Serves a frame from now on, which calls ``close()`` before it serves another map or goes away.
  func open(_ frame: EncodingFrame) { unsafe self.frame = .passUnretained(frame) }

  /// Serves no frame any longer.
  func close() { unsafe frame = nil }

  /// The frame that it serves.
  ///
  /// - Throws: ``ModelError`` `encodingEnded`.
  func openFrame() throws -> EncodingFrame {
    guard let frame = unsafe frame else { throw EncodingFrame.ended }
    return unsafe frame.takeUnretainedValue()
  }

  /// The frame that it serves, or one that refuses everything.
  var frameOrRefusal: EncodingFrame {
    (try? openFrame()) ?? EncodingFrame.refusing(EncodingFrame.ended)
  }

  /// Begins a field.
  ///
  /// - Returns: Where its value is to be written.
  /// - Throws: ``ModelError`` `encodingEnded`.
  @inline(__always)
  func beginField(_ name: String) throws -> UnsafeMutablePointer<EncodedContent> {
    guard let frame = unsafe frame else { throw EncodingFrame.ended }
    return try unsafe frame._withUnsafeGuaranteedRef { frame in
      try frame.beginField(name)
      return unsafe frame.content
    }
  }
}

/// A container for the fields of maps, and what it needs to serve another one.
struct KeptEncodingContainer {
  let keys: ObjectIdentifier
  /// A `KeyedEncodingContainer` for keys of that type.
  var container: AnyObject
  let handle: EncodingHandle
}
