/// A page's place in its tree.
struct PagePlace {
  /// Where a key of a parent page lies.
  struct Key {
    let buffer: PageBuffer
    let range: Range<Int>
  }

  /// The range of the keys of a page, as its parents give it; `nil` is without end.
  struct Bounds {
    var lower: Key?
    var upper: Key?
  }

  let page: UInt64
  /// The page that refers to this one, or `nil` if a tree's record does.
  let parent: UInt64?
  /// 1 for the root.
  let level: Int
  /// Which buffer the page is read into.
  let bufferLevel: Int
  let bounds: Bounds
}
