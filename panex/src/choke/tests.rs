//! Whole searches.
use super::*;

#[test]
fn known() {
    let t = std::time::Instant::now();
    let s = super::classes::Structure::shared();
    println!(
        "{} signatures {} classes {:?} top {} nodes {}",
        s.class_of.len(),
        s.classes.len(),
        t.elapsed(),
        s.top.len(),
        s.classes.iter().map(|c| c.nodes.len()).sum::<usize>()
    );
    for (n, x) in (1..).zip([3, 13, 42, 128, 343, 881, 2189, 5359, 13023]) {
        let t = std::time::Instant::now();
        assert_eq!(Search::new(n).least_moves(), Ok(x));
        println!("{n} {:?}", t.elapsed());
        assert_eq!(Search::new(n).moves().unwrap().len(), x as usize);
        println!("{n} {:?}", t.elapsed());
    }
}
