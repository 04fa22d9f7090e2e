/// Where providers without a store keep their data: anything that can get and set by key.
///
/// Called from any thread. Writes come one after another, in the order of the calls; a slow cache
/// delays nobody but itself.
public protocol CacheDelegate: Sendable {
}
