//! Digests of blocks: sums of the weights of their states, computed by table look-ups.

use strata_space::Weight;
use strata_space::dense::DenseSpace;

/// Number of rows whose products are summed in 128 bits without overflow.
const ROWS_PER_SUM: usize = 8;

/// For each byte of a word and each value of the byte: the two sums of the weights of its lanes, each
/// below 2^61.
type ByteSums = [[[u64; 2]; 256]; 8];

/// Weights of lanes by byte, and of rows.
pub(crate) struct DigestTables {
    bytes: Box<ByteSums>,
    rows: Vec<Weight>,
}

impl DigestTables {
    pub(crate) fn new(space: &dyn DenseSpace) -> DigestTables {
        let shape = space.tables().shape();
        let mut bytes = Box::new([[[0; 2]; 256]; 8]);
        for (index, table) in bytes.iter_mut().enumerate() {
            for (value, sums) in table.iter_mut().enumerate() {
                let lanes = (0..8).filter(|bit| value >> bit & 1 == 1).map(|bit| 8 * index + bit);
                let lanes = lanes.filter(|lane| *lane < shape.lanes as usize);
                *sums = lanes.map(|lane| space.lane_weight(lane as u8)).sum::<Weight>().0;
            }
        }
        let rows = (0..shape.rows).map(|row| space.row_weight(row as u16)).collect();
        DigestTables { bytes, rows }
    }

    /// Bytes of the tables of a space whose blocks have `rows` rows.
    pub(crate) fn bytes(rows: u32) -> usize {
        size_of::<ByteSums>() + rows as usize * size_of::<Weight>()
    }

    /// The sum of the weights of a block's states, without the block's factor. `words` has a word for
    /// each row.
    pub(crate) fn of_rows(&self, words: &[u64]) -> Weight {
        let chunks = words.chunks(ROWS_PER_SUM).zip(self.rows.chunks(ROWS_PER_SUM));
        let sums = chunks.map(|(words, rows)| {
            let mut sums = [0_u128; 2];
            for (word, row) in words.iter().zip(rows).filter(|(word, _)| **word != 0) {
                for (sum, (lanes, row)) in sums.iter_mut().zip(self.lanes(*word).iter().zip(row.0))
                {
                    *sum += u128::from(*lanes) * u128::from(row);
                }
            }
            Weight::reduce(sums)
        });
        sums.sum()
    }

    /// The sums of the weights of a word's lanes. They have eight terms below 2^61, so they fit 64 bits.
    #[inline(always)]
    fn lanes(&self, word: u64) -> [u64; 2] {
        let terms = self.bytes.iter().zip(word.to_le_bytes());
        terms.fold([0; 2], |[a, b], (table, byte)| {
            let [c, d] = table[usize::from(byte)];
            [a + c, b + d]
        })
    }
}
